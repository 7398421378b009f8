const { allowed, filesOf } = require('./boundaries.cjs');

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
    enhancedResolveOptions: { extensions: ['.ts', '.js'], conditionNames: ['import', 'node', 'default'] },
  },
};
