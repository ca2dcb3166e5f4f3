// Stands in for the parts of Grafana's front end that its npm packages expect to
// find: they ship the libraries, not the application. The two data sources ask the
// server that gave this page, which answers as their backends do.
import { DataSourceApi, LoadingState, getDefaultTimeRange, createTheme, EventBusSrv } from '@grafana/data';
import {
  config, setDataSourceSrv, setBackendSrv, setPluginImportUtils, setRunRequest, setTemplateSrv, setEchoSrv,
  setAppEvents, setLocationSrv, setPluginLinksHook, setReturnToPreviousHook, setChromeHeaderHeightHook, toDataQueryResponse, setCurrentUser,
} from '@grafana/runtime';
import { sceneGraph } from '@grafana/scenes';
import { from, of, map, catchError, startWith } from 'rxjs';

export const errors = (window.__errors = []);
window.__pending = 0; // requests under way: the picture waits for none

const settings = (type, name) => ({
  id: type.length, uid: `the-${type}`, name, type, isDefault: false, access: 'proxy', readOnly: true, jsonData: {}, url: '',
  meta: { id: type, name, type: 'datasource', info: { logos: { small: '', large: '' }, links: [], author: {}, description: '', version: '', updated: '', screenshots: [] }, module: '', baseUrl: '', metrics: true, annotations: true },
});
const known = [settings('grafana-clickhouse-datasource', 'ClickHouse'), settings('prometheus', 'Prometheus')];
export const uidOf = (type) => known.find((s) => s.type === type)?.uid ?? errors.push(`data source: type ${type} has no stand-in`);

// The data source's own way with a value that names no format: several values
// become a quoted list, one stays as it is.
const bare = (v) => (Array.isArray(v) ? `'${v.join("','")}'` : v);

async function ask(body) {
  window.__pending++;
  try {
    const r = await fetch('/api/ds/query', { method: 'POST', body: JSON.stringify(body) });
    if (!r.ok) throw new Error(`${r.status} ${await r.text()}`);
    return await r.json();
  } finally {
    window.__pending--;
  }
}

// Prometheus' own variable: four scrapes at least, so that rate() has two samples.
const scrapeSeconds = 15;
const rateInterval = (ms) => `${Math.max(4 * scrapeSeconds, Math.round(ms / 1000) + scrapeSeconds)}s`;

class Source extends DataSourceApi {
  constructor(s) {
    super(s);
    Object.assign(this, { type: s.type, uid: s.uid, meta: s.meta });
  }
  query(req) {
    const scene = req.scopedVars?.__sceneObject?.value.valueOf();
    const fill = (s) => s && (scene ? sceneGraph.interpolate(scene, s.replaceAll('$__rate_interval', rateInterval(req.intervalMs)), req.scopedVars, bare) : s);
    const queries = req.targets.filter((t) => !t.hide).map((t) => ({ ...t, datasource: { type: this.type, uid: this.uid }, rawSql: fill(t.rawSql), expr: fill(t.expr), intervalMs: req.intervalMs, maxDataPoints: req.maxDataPoints }));
    const body = { queries, from: String(req.range.from.valueOf()), to: String(req.range.to.valueOf()) };
    return from(ask(body).then((json) => toDataQueryResponse({ data: json }, queries))).pipe(map((res) => {
      for (const e of res.errors ?? (res.error ? [res.error] : [])) errors.push(`query: ${e.message ?? JSON.stringify(e)}`);
      return res;
    }));
  }
  async metricFindQuery(query, options) {
    const text = typeof query === 'string' ? query : query.query ?? query.rawSql;
    const range = options?.range ?? getDefaultTimeRange();
    const rawSql = sceneGraph.interpolate(options.scopedVars.__sceneObject.value.valueOf(), text, options.scopedVars, bare);
    const json = await ask({ from: String(range.from.valueOf()), to: String(range.to.valueOf()), queries: [{ refId: 'V', datasource: { type: this.type, uid: this.uid }, rawSql, format: 1, intervalMs: 60000 }] });
    const out = toDataQueryResponse({ data: json });
    if (out.error) errors.push(`variable: ${out.error.message}`);
    const [name, value] = out.data[0]?.fields ?? [];
    return (name?.values ?? []).map((v, i) => ({ text: String(v), value: String((value ?? name).values[i]) }));
  }
  async testDatasource() { return { status: 'success', message: '' }; }
}
const sources = known.map((s) => new Source(s));
// A reference is a uid, {type, uid}, or one of these with a variable in it.
const find = (ref) => {
  const id = typeof ref === 'string' ? ref : ref?.uid ?? ref?.type;
  return known.findIndex((s) => s.uid === id || s.type === (ref?.type ?? id));
};

export function install(panelPlugins, mode) {
  config.theme2 = createTheme({ colors: { mode } });
  config.bootData = { user: {}, settings: {}, navTree: [] };
  config.panels = Object.fromEntries(Object.keys(panelPlugins).map((id) => [id, { id, name: id, info: { logos: { small: '', large: '' } } }]));
  setDataSourceSrv({ get: async (ref) => sources[find(ref)], getList: (o) => known.filter((s) => !o?.pluginId || s.type === o.pluginId), getInstanceSettings: (ref) => known[find(ref)], reload: async () => {}, registerRuntimeDataSource: () => {} });
  setBackendSrv({ fetch: () => of({ data: {} }), get: async () => ({}), post: async () => ({}), request: async () => ({}) });
  setPluginImportUtils({
    importPanelPlugin: async (id) => {
      if (panelPlugins[id]) return panelPlugins[id];
      errors.push(`panel: no stand-in for type ${id}`);
      throw new Error(`no stand-in for panel type ${id}`);
    },
    getPanelPluginFromCache: (id) => panelPlugins[id],
  });
  setTemplateSrv({ replace: (s) => s ?? '', getVariables: () => [], containsTemplate: () => false, updateTimeRange: () => {} });
  setEchoSrv({ addEvent() {}, addBackend() {}, flush() {} });
  setAppEvents(new EventBusSrv());
  setLocationSrv?.({ update() {} });
  setPluginLinksHook?.(() => ({ links: [], isLoading: false }));
  setReturnToPreviousHook?.(() => () => {});
  setChromeHeaderHeightHook?.(() => 0);
  setCurrentUser?.({});
  setRunRequest((source, request) =>
    source.query(request).pipe(
      map((res) => ({ state: res.errors?.length || res.error ? LoadingState.Error : LoadingState.Done, series: res.data, annotations: [], error: res.error ?? res.errors?.[0], errors: res.errors, request, timeRange: request.range })),
      catchError((error) => {
        errors.push(`query: ${error.message}`);
        return of({ state: LoadingState.Error, series: [], error: { message: error.message }, request, timeRange: request.range });
      }),
      startWith({ state: LoadingState.Loading, series: [], request, timeRange: request.range }),
    ));
}
