package main

// The file of provisioned rules, as Grafana reads it.
type file struct {
	APIVersion int     `yaml:"apiVersion"`
	Groups     []group `yaml:"groups"`
}

type group struct {
	OrgID    int    `yaml:"orgId"`
	Name     string `yaml:"name"`
	Folder   string `yaml:"folder"`
	Interval string `yaml:"interval"`
	Rules    []rule `yaml:"rules"`
}

type rule struct {
	UID          string            `yaml:"uid"`
	Title        string            `yaml:"title"`
	Condition    string            `yaml:"condition"`
	For          string            `yaml:"for"`
	NoDataState  string            `yaml:"noDataState"`
	ExecErrState string            `yaml:"execErrState"`
	Labels       map[string]string `yaml:"labels"`
	Annotations  map[string]string `yaml:"annotations"`
	Data         []query           `yaml:"data"`
}

type query struct {
	RefID             string         `yaml:"refId"`
	RelativeTimeRange timeRange      `yaml:"relativeTimeRange"`
	DatasourceUID     string         `yaml:"datasourceUid"`
	Model             map[string]any `yaml:"model"`
}

// timeRange is in seconds before now.
type timeRange struct {
	From int `yaml:"from"`
	To   int `yaml:"to"`
}
