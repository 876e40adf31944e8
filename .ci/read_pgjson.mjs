// Shows the plans of a directory (NAME.pgjson) in pev2, which is behind explain.dalibo.com, in a headless Chromium.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const modules = path.join(path.dirname(process.argv[1]), 'node_modules');
const script = (name) => `<script>${fs.readFileSync(path.join(modules, name), 'utf8').replaceAll('</script', '<\\/script')}</script>`;
const html = `<!DOCTYPE html><meta charset=utf-8><body><div id=app><pev2 :plan-source="plan" plan-query=""></pev2></div>
${script('vue/dist/vue.global.prod.js')}${script('pev2/dist/pev2.umd.js')}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
const dir = process.argv[2];
const at = path.join(dir, 'pev2.html');
fs.writeFileSync(at, html);
let plans = 0, nodes = 0;
for (const file of fs.readdirSync(dir).filter((name) => name.endsWith('.pgjson')).sort()) {
    const text = fs.readFileSync(path.join(dir, file), 'utf8');
    const page = await browser.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
    await page.goto(`file://${path.resolve(at)}`);
    await page.evaluate((plan) => {
        const app = Vue.createApp({ data: () => ({ plan }) });
        app.config.errorHandler = (error) => console.error(error.message);
        app.component('pev2', pev2.Plan);
        app.mount('#app');
    }, text);
    await page.waitForTimeout(300);
    const body = await page.innerText('body');
    const expected = [...text.matchAll(/"Node Type": "/g)].length;
    const shown = await page.locator('.plan-node').count();
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}/${file}.png` });
    if (/Couldn.t parse plan/.test(body) || complaints.length || shown !== expected) {
        throw new Error(`${file}: ${shown} of ${expected} nodes, ${complaints.join('; ')} ${body.slice(0, 300)}`);
    }
    plans += 1; nodes += shown;
    await page.close();
}
await browser.close();
console.log(`pev2: ${plans} plans, ${nodes} nodes shown`);
