// Reads the flowcharts of a directory (NAME.mmd) by Mermaid's own parser, and compares what stands in each box with
// what has to stand there (NAME.labels: a line of JSON for each, [name, text]).
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';

const { window } = new JSDOM('<!DOCTYPE html><body></body>');
Object.assign(globalThis, { window, document: window.document });
const { default: mermaid } = await import('mermaid');
mermaid.initialize({ startOnLoad: false });

// What a browser shows of a label: Mermaid puts marks in the place of entities while it parses.
function shown(label) {
    const html = label.replace(/ﬂ°°/g, '&#').replace(/ﬂ°/g, '&').replace(/¶ß/g, ';');
    const box = document.createElement('div');
    box.innerHTML = html.replace(/<br\s*\/?>/g, '\n');
    if (box.children.length > 0) throw new Error(`an element in ${html}`);
    return box.textContent;
}

const dir = process.argv[2];
let charts = 0, boxes = 0;
for (const file of fs.readdirSync(dir).filter((name) => name.endsWith('.mmd')).sort()) {
    const text = fs.readFileSync(path.join(dir, file), 'utf8');
    const labels = fs.readFileSync(path.join(dir, file.replace(/mmd$/, 'labels')), 'utf8');
    const expected = new Map(labels.split('\n').filter(Boolean).map((line) => JSON.parse(line)));
    const parsed = await mermaid.mermaidAPI.getDiagramFromText(text);
    const found = new Map([...parsed.db.getVertices()].map(([name, vertex]) => [name, shown(vertex.text)]));
    for (const [name, label] of expected) {
        // Mermaid leaves out blanks at the ends.
        if (found.get(name)?.trim() !== label.trim()) {
            throw new Error(`${file}: box ${name} shows ${JSON.stringify(found.get(name))}, not ${JSON.stringify(label)}`);
        }
    }
    if (found.size !== expected.size) throw new Error(`${file}: ${found.size} boxes, not ${expected.size}`);
    charts += 1;
    boxes += found.size;
}
if (charts === 0) throw new Error(`no flowchart in ${dir}`);
console.log(`Mermaid ${(await import('mermaid/package.json', { with: { type: 'json' } })).default.version}: ${charts} flowcharts, ${boxes} boxes as they should be`);
