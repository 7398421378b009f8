// The folders of src/ and what each may import (see ARCHITECTURE.md). A folder missing here may import nothing.
const allowed = {
  api: [],
  core: ['api'],
  observe: ['core', 'api'],
  http2: [],
  storage: [],
  transport: ['core', 'api', 'observe'],
  identity: ['core', 'api', 'observe'],
  peers: ['core', 'api', 'transport', 'observe'],
  routing: ['core', 'api', 'identity', 'peers', 'observe'],
  discovery: ['core', 'api', 'peers', 'observe'],
  apiserver: ['core', 'api', 'identity', 'storage', 'observe'],
  controllers: ['core', 'api', 'observe'],
  hosts: ['core', 'api', 'transport', 'identity', 'apiserver', 'observe'],
  filters: ['core', 'api', 'identity', 'routing', 'discovery', 'peers', 'observe'],
  server: ['core', 'api', 'http2', 'transport', 'observe'],
  plane: ['core', 'api', 'identity', 'filters', 'server', 'transport', 'observe'],
  workers: ['core', 'api', 'peers', 'observe'],
  rehearse: ['core', 'api', 'observe'],
  testing: ['apiserver', 'compose', 'config', 'core', 'observe', 'peers', 'plane', 'transport'],
  config: ['api'],
  inspect: ['core', 'api', 'identity', 'peers', 'apiserver'],
  cli: ['api', 'core', 'config', 'compose', 'observe', 'transport', 'apiserver', 'inspect', 'plane', 'rehearse'],
};

const folders = Object.keys(allowed);

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-to-test',
      severity: 'error',
      from: { path: '^src', pathNot: '\\.(test|fixture)\\.ts$' },
      to: { path: '(^test/)|(\\.(test|fixture)\\.ts$)' },
    },
    {
      name: 'not-to-dev-dependency',
      severity: 'error',
      from: { path: '^src', pathNot: '\\.(test|fixture)\\.ts$' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    ...folders.map((folder) => ({
      name: `${folder}-imports`,
      comment: `src/${folder} may import only: ${allowed[folder].join(', ') || 'nothing'}`,
      severity: 'error',
      from: { path: `^src/${folder}/`, pathNot: '\\.(test|fixture)\\.ts$' },
      to: { path: '^src/', pathNot: [`^src/${folder}/`, ...allowed[folder].map((name) => `^src/${name}(/|\\.ts$)`)] },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'], conditionNames: ['import', 'node', 'default'] },
  },
};
