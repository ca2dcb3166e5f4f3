package store

import (
	"errors"
	"slices"
)

// failure says what a failed insert asks for.
type failure int

const (
	// failurePassing: the same insert may succeed later, or its outcome is not
	// known. It is sent again, whole, for as long as it takes.
	failurePassing failure = iota
	// failureValue: a value in it cannot be stored. It is split until the record
	// stands alone.
	failureValue
	// failureOther: nobody knows. It is tried some times more, then set aside.
	failureOther
)

// ClickHouse's error codes that tell, by what they ask for. Whatever is in
// neither list, and came from ClickHouse itself, is failureOther.
var (
	valueCodes = []int{
		6,   // CANNOT_PARSE_TEXT
		27,  // CANNOT_PARSE_INPUT_ASSERTION_FAILED
		38,  // CANNOT_PARSE_DATE
		41,  // CANNOT_PARSE_DATETIME
		53,  // TYPE_MISMATCH
		69,  // ARGUMENT_OUT_OF_BOUND
		70,  // CANNOT_CONVERT_TYPE
		117, // INCORRECT_DATA
		128, // TOO_LARGE_ARRAY_SIZE
		131, // TOO_LARGE_STRING_SIZE
		321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
		349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
		395, // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
		469, // VIOLATED_CONSTRAINT
	}
	passingCodes = []int{
		3,   // UNEXPECTED_END_OF_FILE: the request was cut
		33,  // CANNOT_READ_ALL_DATA: the request was cut
		159, // TIMEOUT_EXCEEDED
		164, // READONLY
		173, // CANNOT_ALLOCATE_MEMORY
		192, // UNKNOWN_USER: credentials are being changed
		193, // WRONG_PASSWORD
		202, // TOO_MANY_SIMULTANEOUS_QUERIES
		203, // NO_FREE_CONNECTION
		209, // SOCKET_TIMEOUT
		210, // NETWORK_ERROR
		225, // NO_ZOOKEEPER
		236, // ABORTED
		241, // MEMORY_LIMIT_EXCEEDED
		242, // TABLE_IS_READ_ONLY
		243, // NOT_ENOUGH_SPACE
		252, // TOO_MANY_PARTS
		285, // TOO_FEW_LIVE_REPLICAS
		286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
		319, // UNKNOWN_STATUS_OF_INSERT
		394, // QUERY_WAS_CANCELLED
		425, // SYSTEM_ERROR
		516, // AUTHENTICATION_FAILED
		571, // DATABASE_REPLICATION_FAILED
		999, // KEEPER_EXCEPTION
	}
)

// sort tells what a failed insert asks for. An error that did not come from
// ClickHouse is one of the way to it: its outcome is unknown.
func sortFailure(err error) failure {
	var refused *InsertError
	switch {
	case !errors.As(err, &refused) || refused.Code == 0:
		return failurePassing
	case slices.Contains(passingCodes, refused.Code):
		return failurePassing
	case slices.Contains(valueCodes, refused.Code):
		return failureValue
	}
	return failureOther
}
