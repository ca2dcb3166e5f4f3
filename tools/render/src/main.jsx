// Draws the dashboard that ?dashboard= names, in the theme of ?theme=.
import React from 'react';
import { createRoot } from 'react-dom/client';
import { MemoryRouter } from 'react-router-dom';
import { createTheme, ThemeContext, standardFieldConfigEditorRegistry, standardTransformersRegistry, standardTransformers, setTimeZoneResolver } from '@grafana/data';
import { PortalContainer, GlobalStyles } from '@grafana/ui';
import { standardFieldConfigs } from './fields.js';
import {
  EmbeddedScene, SceneTimeRange, SceneVariableSet, DataSourceVariable, QueryVariable,
  SceneGridLayout, SceneGridItem, SceneGridRow, VizPanel, SceneQueryRunner, SceneDataTransformer, VariableValueSelectors, SceneTimePicker, SceneControlsSpacer,
} from '@grafana/scenes';
import { initPluginTranslations } from '@grafana/i18n';
import { install, errors, uidOf } from './fakes.js';
import { panelPlugins } from './panels.jsx';

window.addEventListener('error', (e) => errors.push(`page: ${e.message}`));
window.addEventListener('unhandledrejection', (e) => errors.push(`page: ${e.reason?.message ?? e.reason}`));

// The dashboards name data sources by variables; here there is one of each type.
const reference = (ref) => ({ type: ref.type, uid: uidOf(ref.type) });

const variable = (v) => {
  const base = { name: v.name, label: v.label, hide: v.hide, isMulti: v.multi, includeAll: v.includeAll, allValue: v.allValue ?? undefined };
  switch (v.type) {
    case 'datasource': return new DataSourceVariable({ ...base, pluginId: v.query, value: uidOf(v.query), text: v.label });
    case 'query': return new QueryVariable({ ...base, query: v.query, datasource: reference(v.datasource), refresh: v.refresh, sort: v.sort, regex: v.regex ?? '', ...(v.current?.value !== undefined ? { value: v.current.value, text: v.current.text } : {}) });
    default: errors.push(`variable: type ${v.type} has no stand-in`); return null;
  }
};
const viz = (p) => {
  const $queries = p.targets?.length ? new SceneQueryRunner({ datasource: reference(p.datasource ?? p.targets[0].datasource), queries: p.targets.map((t) => ({ ...t, datasource: reference(t.datasource ?? p.datasource) })), maxDataPoints: p.maxDataPoints, minInterval: p.interval }) : undefined;
  return new VizPanel({ key: `panel-${p.id}`, title: p.title, description: p.description, pluginId: p.type, options: p.options ?? {}, fieldConfig: p.fieldConfig ?? { defaults: {}, overrides: [] },
    $data: $queries && p.transformations?.length ? new SceneDataTransformer({ $data: $queries, transformations: p.transformations }) : $queries });
};
const item = (p) => new SceneGridItem({ x: p.gridPos.x, y: p.gridPos.y, width: p.gridPos.w, height: p.gridPos.h, isResizable: false, isDraggable: false, body: viz(p) });
const child = (p) => p.type === 'row'
  ? new SceneGridRow({ key: `row-${p.id}`, title: p.title, y: p.gridPos.y, isCollapsed: false, children: [] })
  : item(p);

async function main() {
  // Scenes looks a panel's fonts and colours up in the theme.
  standardFieldConfigEditorRegistry.setInit(() => standardFieldConfigs);
  standardTransformersRegistry.setInit(() => [...new Map(Object.values(standardTransformers).map((t) => [t.id, t])).values()].map((t) => ({ id: t.id, name: t.name, transformation: () => t, editor: () => null, imageDark: '', imageLight: '' })));
  setTimeZoneResolver(() => 'utc');
  await initPluginTranslations('grafana-scenes').catch(() => {});
  const wanted = new URLSearchParams(location.search);
  const mode = wanted.get('theme') ?? 'dark';
  install(panelPlugins, mode);
  const d = await (await fetch(wanted.get('dashboard'))).json();
  const scene = new EmbeddedScene({
    $timeRange: new SceneTimeRange({ from: wanted.get('from') ?? d.time?.from ?? 'now-1h', to: d.time?.to ?? 'now', timeZone: 'utc' }),
    $variables: new SceneVariableSet({ variables: (d.templating?.list ?? []).map(variable).filter(Boolean) }),
    controls: [new VariableValueSelectors({}), new SceneControlsSpacer(), new SceneTimePicker({})],
    body: new SceneGridLayout({ isLazy: false, children: d.panels.map(child) }),
  });
  scene.activate();
  window.__scene = scene;
  const theme = createTheme({ colors: { mode } });
  document.body.style.background = theme.colors.background.canvas;
  document.body.style.color = theme.colors.text.primary;
  const Component = scene.Component;
  createRoot(document.getElementById('app')).render(
    <ThemeContext.Provider value={theme}><GlobalStyles /><MemoryRouter><Component model={scene} /></MemoryRouter><PortalContainer /></ThemeContext.Provider>);
}
main().catch((e) => errors.push(`page: ${e.stack ?? e}`));
