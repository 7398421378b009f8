const { allowed, filesOf } = require('./boundaries.cjs');

const PAGE_STATE = '^src/proxy/page/page-state\\.ts$';
const SOURCE = '\\.(test|fixture)\\.ts$';

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-to-test',
      severity: 'error',
      from: { path: '^src', pathNot: SOURCE },
      to: { path: `(^test/)|(${SOURCE})` },
    },
    {
      name: 'not-to-dev-dependency',
      severity: 'error',
      from: { path: '^src', pathNot: SOURCE },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'page-imports',
      comment: 'page/ runs in browsers: it may import the drawing and, as types, the JSON API',
      severity: 'error',
      from: { path: '^page/', pathNot: SOURCE },
      to: { pathNot: ['^page/', filesOf('drawing'), PAGE_STATE, 'node_modules/(preact|uplot)/'] },
    },
    {
      name: 'page-imports-types-only',
      severity: 'error',
      from: { path: '^page/' },
      to: { path: PAGE_STATE, dependencyTypesNot: ['type-only'] },
    },
    { name: 'not-to-page', severity: 'error', from: { path: '^src' }, to: { path: '^page/' } },
    ...Object.entries(allowed).map(([folder, others]) => ({
      name: `${folder.replace('/', '-')}-imports`,
      comment: `src/${folder} may import only: ${others.join(', ') || 'nothing'}`,
      severity: 'error',
      from: { path: filesOf(folder), pathNot: SOURCE },
      to: { path: '^src/', pathNot: [folder, ...others].map(filesOf) },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'], conditionNames: ['import', 'node', 'default'] },
  },
};
