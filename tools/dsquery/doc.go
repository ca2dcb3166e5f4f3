// Package dsquery answers the queries of Grafana dashboards without Grafana: it
// puts variables into a query as the browser does, expands the documented macros
// of Grafana's ClickHouse data source, runs the SQL, and turns the rows into the
// frames that a panel gets. Queries for Prometheus go to Prometheus' HTTP
// interface. It owns what stands between a dashboard's JSON and its data; it
// draws nothing, and refuses what a data source would let pass and a panel could
// not show.
package dsquery
