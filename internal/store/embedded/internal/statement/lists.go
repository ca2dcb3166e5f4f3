package statement

import (
	"maps"
	"slices"
	"strings"
)

// set makes a lower-case set of words.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[strings.ToLower(w)] = true
	}
	return m
}

// TableEngines are the table engines that keep their data in the store, as
// ClickHouse spells them.
const TableEngines = `AggregatingMergeTree Buffer CoalescingMergeTree CollapsingMergeTree GenerateRandom
	GraphiteMergeTree Join Log MaterializedView Memory Merge MergeTree Null ReplacingMergeTree Set StripeLog
	SummingMergeTree TinyLog VersionedCollapsingMergeTree View`

// The table functions and engines of the release are split into allowed and
// refused; a test asks the engine for its lists and fails on a name in neither,
// so that a new release cannot bring a new way out in silence.
var (
	// AllowedTableFunctions work on data that is in the statement or in the store.
	AllowedTableFunctions = set(`SQLStandardValues dictionary format generateRandom generateSeries generate_series
		loop merge mergeTreeAnalyzeIndexes mergeTreeAnalyzeIndexesUUID mergeTreeIndex mergeTreeProjection
		mergeTreeTextIndex null numbers numbers_mt primes values view viewIfPermitted zeros zeros_mt`)

	// RefusedTableFunctions read files, open connections, start programs, take a
	// statement from a string, or address memory.
	RefusedTableFunctions = set(`arrowstream azureBlobStorage azureBlobStorageCluster cluster clusterAllReplicas cosn
		deltaLake deltaLakeAzure deltaLakeAzureCluster deltaLakeCluster deltaLakeLocal deltaLakeS3 deltaLakeS3Cluster
		eval executable file fileCluster filesystem fuzzJSON fuzzQuery gcs hdfs hdfsCluster hudi hudiCluster
		iceberg icebergAzure icebergAzureCluster icebergCluster icebergHDFS icebergHDFSCluster icebergLocal
		icebergLocalCluster icebergS3 icebergS3Cluster input jdbc mongodb mysql odbc oss paimon paimonAzure
		paimonAzureCluster paimonCluster paimonHDFS paimonHDFSCluster paimonLocal paimonS3 paimonS3Cluster postgresql
		prometheusQuery prometheusQueryRange redis remote remoteSecure s3 s3Cluster sqlite timeSeriesData
		timeSeriesMetrics timeSeriesSamples timeSeriesSelector timeSeriesTags url urlCluster viewExplain ytsaurus
		python hive arrowFlight gcsCluster ossCluster cosnCluster s3Queue azureQueue kafka nats rabbitmq
		materializedPostgresql meilisearch`)

	// structured are allowed table functions that take a table's structure as
	// text; a default expression in it would be code inside a literal.
	structured = set(`generateRandom null values SQLStandardValues`)

	// fileFunctions reach outside the store from an ordinary expression. The name
	// alone is enough, since a function may be handed on by name:
	// arrayMap(file, ['/etc/passwd']), APPLY(file).
	fileFunctions = set(`file catboostEvaluate aiClassify aiGenerate aiEmbed aiExtract aiTranslate`)

	// otherFunctions are refused when called.
	otherFunctions = set(`disk remoteDisk addressToLine addressToLineWithInlines addressToSymbol`)

	// AllowedTableEngines keep their data in the store.
	AllowedTableEngines = set(TableEngines)

	// AllowedDatabaseEngines keep their tables in the store.
	AllowedDatabaseEngines = set(`Atomic Memory`)

	// refusedFormats take the path of a schema or template, or ask a registry.
	refusedFormats = set(`AvroConfluent CapnProto Protobuf ProtobufList ProtobufSingle Template TemplateIgnoreSpaces`)

	// refusedSettings name files, hosts, or switch on what is refused here.
	refusedSettings = set(`format_schema format_schema_source format_schema_message_name format_template_resultset
		format_template_row format_template_resultset_format format_template_row_format format_avro_schema_registry_url
		input_format_record_errors_file_path output_format_schema url_base
		allow_experimental_eval_table_function implicit_select allow_introspection_functions
		storage_file_read_method`)

	// keptDatabases are the engine's own; without `default` it takes no further
	// connection.
	keptDatabases = set(`default system information_schema`)
)

// RefusedSetting reports whether a setting may not be given with a request.
func RefusedSetting(name string) bool { return refusedSettings[strings.ToLower(name)] }

// RefusedSettings lists those settings, sorted.
func RefusedSettings() []string { return slices.Sorted(maps.Keys(refusedSettings)) }

// RefusedFormat reports whether an input or output format is refused.
func RefusedFormat(name string) bool { return refusedFormats[strings.ToLower(name)] }
