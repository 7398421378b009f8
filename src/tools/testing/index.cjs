'use strict';
// The library for `require`. It is taken from Node.js itself, which can `require` ECMAScript modules: the modules of jest cannot.
const { createRequire } = process.getBuiltinModule('node:module');

module.exports = createRequire(__filename)('./index.js');
