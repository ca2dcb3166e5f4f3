// node shoot.mjs URL OUT [DASHBOARD...] : takes a picture of each dashboard that
// URL serves below /dashboards/, in both themes, into the folder OUT. Prints what
// went wrong and exits 1 if anything did: a query or the page failed, a panel broke,
// has a type without a stand-in, or shows nothing though it should.
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [url, out, ...names] = process.argv.slice(2);

// Panels that are rightly empty on a fleet that is as the scenarios make it.
const mayBeEmpty = new Set([
  'Agent API: codes', // no scenario speaks for the agent API
  'Rejected records', // ClickHouse refuses none of them
  'Before and after a version change', // no scenario that is shipped changes a version
]);
const width = 1280; // the narrowest screen that the dashboards are made for
const patience = 60_000; // for all queries of one dashboard

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
mkdirSync(out, { recursive: true });
// The panels of a dashboard, without its headings.
const panelsOf = (d) => d.panels.flatMap((p) => [p, ...(p.panels ?? [])]).filter((p) => p.type !== 'row');

let bad = 0;
for (const name of names) {
  for (const theme of ['dark', 'light']) {
    const wrong = await shoot(name, theme);
    bad += wrong.length;
    console.log(`${name} (${theme}): ${wrong.length ? '' : 'well'}`);
    for (const w of wrong) console.log(`  ${w}`);
  }
}
await browser.close();
process.exit(bad ? 1 : 0);

async function shoot(name, theme) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const wrong = [];
  page.on('pageerror', (e) => wrong.push(`page: ${String(e.stack ?? e).slice(0, 600)}`));
  const from = process.env.FROM ? `&from=${process.env.FROM}` : '';
  await page.goto(`${url}/?theme=${theme}&dashboard=/dashboards/${name}.json${from}`, { waitUntil: 'load' });
  await settled(page).catch((e) => wrong.push(`page: ${e.message}`));
  // Tables and graphs draw only what is in view.
  await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
  await settled(page).catch((e) => wrong.push(`page: ${e.message}`));
  wrong.push(...await page.evaluate(() => window.__errors ?? ['no script of the page ran']));
  const panels = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('[data-viz-panel-key]')].map((e) => [e.getAttribute('data-viz-panel-key'), {
    text: e.innerText.slice(0, 200).replace(/\n/g, ' | '), failed: /unexpected error/i.test(e.innerText), empty: !!e.querySelector('[data-empty]'),
    drawn: { timeseries: !!e.querySelector('canvas'), table: !!e.querySelector('[role=gridcell]'), 'state-timeline': !!e.querySelector('svg rect') },
  }])));
  for (const p of panelsOf(await (await fetch(`${url}/dashboards/${name}.json`)).json())) {
    const shown = panels[`panel-${p.id}`];
    if (!shown) wrong.push(`panel is missing: ${p.title}`);
    else if (shown.failed) wrong.push(`panel broke: ${shown.text}`);
    else if (shown.empty) { if (!mayBeEmpty.has(p.title)) wrong.push(`panel is empty: ${shown.text}`); }
    else if (shown.drawn[p.type] === false) wrong.push(`panel is blank: ${shown.text}`);
  }
  await page.screenshot({ path: `${out}/${name}-${theme}.png`, fullPage: true });
  await page.close();
  return wrong;
}

// settled waits until no request is under way and the page looks the same a while.
async function settled(page) {
  await page.waitForFunction(() => {
    const now = `${document.getElementById('app').innerText.length} ${document.querySelectorAll('canvas').length}`;
    if (window.__pending !== 0 || now !== window.__before) {
      window.__before = now;
      window.__since = performance.now();
    }
    return document.querySelector('[data-viz-panel-key]') && performance.now() - window.__since > 2000;
  }, undefined, { polling: 200, timeout: patience });
}
