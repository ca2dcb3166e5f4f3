// Package grafana is the folder that a Grafana mounts at
// /etc/grafana/provisioning. It owns data sources, the dashboards' provider and
// alert rules on ClickHouse; the dashboards themselves are in dashboards/.
package grafana

//go:generate go run ./gen -out alerting/soakgate.yaml
