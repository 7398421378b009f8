// A thread that reads and writes long YAML: js-yaml cannot pause, and a body of 3 MB can take it seconds. Plain JavaScript,
// because a thread starts from a file that Node.js itself can run, from the sources as well as from `dist`.
const { parentPort } = require('node:worker_threads');
const { dump, loadAll } = require('js-yaml');

parentPort.on('message', ({ work, text, json, valuesMax, charsMax }) => {
  if (work === 'parse') parentPort.postMessage(parse(text, { valuesMax, charsMax }));
  else {
    const bytes = write(json);
    parentPort.postMessage({ bytes }, [bytes.buffer]);
  }
});

/** The document as JSON, with what is wrong with it; of members named twice the last counts. */
function parse(text, bounds) {
  try {
    const value = loadAll(text, { json: true })[0] ?? null;
    if (unfoldsBeyond(value, bounds)) return { problem: 'document contains excessive aliasing' };
    return { text: JSON.stringify(value), ...duplicateOf(text) };
  } catch (error) {
    return { problem: String(error.message).split('\n', 1)[0] };
  }
}

/** Returns bytes in a new buffer, which can be transferred to the main thread. */
function write(json) {
  return new TextEncoder().encode(dump(JSON.parse(Buffer.from(json).toString()), { noRefs: true }));
}

function duplicateOf(text) {
  try {
    loadAll(text);
    return {};
  } catch ({ reason, mark }) {
    return reason === 'duplicated mapping key' ? { duplicateAtLine: (mark?.line ?? 0) + 1 } : {};
  }
}

/** An alias is a few bytes for a whole tree or a long text. */
function unfoldsBeyond(root, { valuesMax, charsMax }) {
  const open = [root];
  let values = 0;
  let chars = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') chars += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const name of Array.isArray(value) ? [] : Object.keys(value)) chars += name.length;
      for (const child of Object.values(value)) open.push(child);
    }
    if (++values > valuesMax || chars > charsMax) return true;
  }
  return false;
}
