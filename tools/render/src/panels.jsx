// Thin stand-ins for Grafana's panel plugins (which are not on npm), made of
// the parts of @grafana/ui that the real ones use. Units, thresholds, value
// mappings, overrides and reductions are the real @grafana/data.
import React from 'react';
import { PanelPlugin, FieldType, FieldColorModeId, getFieldDisplayValues, getFieldDisplayName, getDisplayValueAlignmentFactors } from '@grafana/data';
import { TimeSeries, BigValue, BarGauge, VizRepeater, BigValueColorMode, BigValueGraphMode, useTheme2 } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';

const Message = ({ text }) => <div data-empty style={{ padding: 24, textAlign: 'center' }}>{text}</div>;
// What an empty or failed query shows, as the real panels do.
const noData = (Panel) => function WithNoData(props) {
  const { data } = props;
  if (data.error) return <Message text={`Error: ${data.error.message}`} />;
  if (!data.series.some((f) => f.length > 0)) return <Message text={props.fieldConfig?.defaults?.noValue ?? 'No data'} />;
  return <Panel {...props} />;
};
const custom = (names) => (b) => { for (const n of names) b.addCustomEditor({ id: n, path: n, name: n, editor: () => null, override: () => null, process: (v) => v, shouldApply: () => true }); };
const graphCustom = ['drawStyle', 'lineInterpolation', 'lineWidth', 'fillOpacity', 'gradientMode', 'showPoints', 'pointSize', 'stacking', 'axisPlacement', 'axisLabel', 'axisColorMode', 'axisWidth', 'axisSoftMin', 'axisSoftMax', 'scaleDistribution', 'hideFrom', 'thresholdsStyle', 'spanNulls', 'insertNulls', 'barAlignment', 'lineStyle', 'lineColor', 'fillBelowTo', 'axisGridShow', 'axisCenteredZero', 'axisBorderShow', 'transform'];
const graphDefaults = { drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', showPoints: 'auto', pointSize: 5, stacking: { mode: 'none', group: 'A' }, axisPlacement: 'auto', axisColorMode: 'text', scaleDistribution: { type: 'linear' }, hideFrom: { viz: false, tooltip: false, legend: false }, thresholdsStyle: { mode: 'off' }, spanNulls: false };

const Graph = noData(({ data, options, width, height, timeRange, timeZone }) => {
  const frames = data.series.map((f) => ({ ...f, fields: f.fields.filter((x) => x.type === FieldType.time || x.type === FieldType.number).map((x) => ({ ...x, config: { ...x.config, custom: { ...graphDefaults, ...x.config.custom } } })) }));
  if (!frames.some((f) => f.fields.some((x) => x.type === FieldType.time) && f.fields.length > 1)) return <Message text="Data is missing a time or a number field" />;
  return <TimeSeries frames={frames} width={width} height={height} timeRange={timeRange} timeZone={timeZone} structureRev={data.structureRev ?? 1}
    legend={{ showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [], ...options.legend }} options={options} />;
});

const values = ({ data, fieldConfig, options, replaceVariables, timeZone }, theme) =>
  getFieldDisplayValues({ fieldConfig, reduceOptions: { calcs: ['lastNotNull'], values: false, ...options.reduceOptions }, replaceVariables, theme, data: data.series, timeZone });

const Stat = noData((props) => {
  const theme = useTheme2();
  return <VizRepeater getValues={() => values(props, theme)} getAlignmentFactors={getDisplayValueAlignmentFactors} source={props.data} renderCounter={props.renderCounter} width={props.width} height={props.height} orientation={props.options.orientation ?? 'auto'}
    renderValue={({ value, width, height, count }) => <BigValue value={value.display} count={count} width={width} height={height} theme={theme} colorMode={props.options.colorMode ?? BigValueColorMode.Value} graphMode={props.options.graphMode ?? BigValueGraphMode.None} textMode={props.options.textMode ?? 'auto'} justifyMode={props.options.justifyMode ?? 'auto'} text={props.options.text} disableWideLayout={!props.options.wideLayout} sparkline={value.sparkline} />} />;
});
const Bars = noData((props) => {
  const theme = useTheme2();
  return <VizRepeater getValues={() => values(props, theme)} getAlignmentFactors={getDisplayValueAlignmentFactors} source={props.data} renderCounter={props.renderCounter} width={props.width} height={props.height} orientation={props.options.orientation ?? 'auto'} itemSpacing={8}
    renderValue={({ value, width, height, orientation, alignmentFactors }) => <BarGauge value={value.display} field={value.field} display={value.view?.getFieldDisplayProcessor(value.colIndex)} width={width} height={height} theme={theme} orientation={orientation} displayMode={props.options.displayMode ?? 'gradient'} alignmentFactors={alignmentFactors} showUnfilled itemSpacing={8} lcdCellWidth={8} namePlacement={props.options.namePlacement} text={props.options.text} />} />;
});
const Grid = noData(({ data, width, height, timeRange, structureRev }) => <TableNG data={data.series[0]} width={width} height={height} timeRange={timeRange} structureRev={structureRev ?? 1} noHeader={false} enableVirtualization={false} getActions={() => []} transparent={false} />);

// Stretches of one state. A sample stands until the next one, one step at most.
const stretches = (t, x, step, end) => {
  const out = [];
  t.values.forEach((at, j) => {
    if (x.values[j] == null) return;
    const { text, color } = x.display(x.values[j]), to = Math.min(t.values[j + 1] ?? end, at + step), last = out.at(-1);
    if (last?.to === at && last.text === text) last.to = to;
    else out.push({ at, to, text, color });
  });
  return out;
};
const States = noData(({ data, width, height, timeRange }) => {
  const from = timeRange.from.valueOf(), span = timeRange.to.valueOf() - from, left = 190;
  const rows = data.series.flatMap((f) => { const t = f.fields.find((x) => x.type === FieldType.time); return t ? f.fields.filter((x) => x !== t).map((x) => ({ f, t, x })) : []; });
  const h = Math.max(8, Math.min(28, (height - 8) / Math.max(rows.length, 1) - 4));
  return <svg width={width} height={height} role="img">{rows.map(({ f, t, x }, i) => <g key={i} transform={`translate(0 ${i * (h + 4)})`}>
    <text x={left - 8} y={h / 2 + 4} textAnchor="end" fill="currentColor" fontSize="12">{getFieldDisplayName(x, f, data.series)}</text>
    {stretches(t, x, data.request.intervalMs, timeRange.to.valueOf()).map(({ at, to, text, color }) => { const a = left + Math.max(0, (at - from) / span) * (width - left), b = left + Math.min(1, (to - from) / span) * (width - left); return b <= a ? null : <rect key={at} x={a} width={b - a} height={h} fill={color ?? '#888'}><title>{text}</title></rect>; })}
  </g>)}</svg>;
});

const make = (id, panel, fields = [], disable) => {
  const p = new PanelPlugin(panel);
  p.meta = { id, name: id, module: '', baseUrl: '', info: { version: '0' } };
  p.useFieldConfig({ useCustomConfig: custom(fields), ...(disable ?? {}) });
  return p;
};
const palette = { standardOptions: { color: { defaultValue: { mode: FieldColorModeId.PaletteClassic }, settings: { byValueSupport: true } } } };
const steps = { standardOptions: { color: { defaultValue: { mode: FieldColorModeId.Thresholds } } } };
export const panelPlugins = {
  timeseries: make('timeseries', Graph, graphCustom, palette),
  stat: make('stat', Stat, [], steps),
  bargauge: make('bargauge', Bars, [], steps),
  table: make('table', Grid, ['align', 'width', 'minWidth', 'wrapHeaderText', 'wrapText', 'displayMode', 'cellOptions', 'hidden', 'filterable', 'inspect'], steps),
  'state-timeline': make('state-timeline', States, ['lineWidth', 'fillOpacity', 'hideFrom', 'insertNulls', 'spanNulls'], steps),
};
