package classify

import "github.com/soakgate/soakgate/internal/classify/jsontape"

// The members of a payload's root that recognition and judgement look at.
const (
	mJSONRPC = iota
	mResult
	mError
	mVersion
	mErrorKind
	mErrorCode
	mTool
	mRetryable
	mLegacy
	mDetails
	mData
	mAgentMeta
	mPagination
	mMeta
	memberCount
)

// members holds the node of each, 0 for one that is absent: node 0 is never a
// member.
type members [memberCount]uint32

// membersOf finds the members of object root in one pass.
func membersOf(t *jsontape.Tape, root uint32) members {
	var m members
	end := t.Nodes[root].Next
	for j := root + 1; j < end; j = t.Nodes[j].Next {
		n := &t.Nodes[j]
		if n.Has(jsontape.Overridden) {
			continue
		}
		var slot int
		if n.Has(jsontape.KeyEscaped | jsontape.NotUnicode) {
			slot = memberSlot([]byte(t.Key(j)))
		} else {
			slot = memberSlot(t.Text[n.KeyStart:n.KeyEnd])
		}
		if slot >= 0 {
			m[slot] = j
		}
	}
	return m
}

func memberSlot(name []byte) int {
	switch string(name) {
	case "jsonrpc":
		return mJSONRPC
	case "result":
		return mResult
	case "error":
		return mError
	case "_envelope_version":
		return mVersion
	case "error_kind":
		return mErrorKind
	case "error_code":
		return mErrorCode
	case "tool":
		return mTool
	case "retryable":
		return mRetryable
	case "legacy_error_kind":
		return mLegacy
	case "details":
		return mDetails
	case "data":
		return mData
	case "meta":
		return mAgentMeta
	case "pagination":
		return mPagination
	case "_meta":
		return mMeta
	}
	return -1
}
