import type * as library from './index.js' with { 'resolution-mode': 'import' };

export type * from './index.js' with { 'resolution-mode': 'import' };
export declare const startControlPlane: typeof library.startControlPlane;
