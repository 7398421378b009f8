import type { PatchField, PatchSchema } from '../patch/strategic-merge-patch.js';
import { memberSchema, type Schema } from './schema.js';

/** A schema as strategic merge patch asks for it. */
export function patchSchemaOf(schema: Schema): PatchSchema {
  return {
    field(name: string): PatchField | undefined {
      const each = memberSchema(schema, name);
      if (each === undefined) return undefined;
      const inner = each.type === 'array' ? each.items : each;
      return {
        strategies: each.patchStrategy?.split(',') ?? [],
        ...(each.patchMergeKey === undefined ? {} : { mergeKey: each.patchMergeKey }),
        ...(inner === undefined ? {} : { schema: patchSchemaOf(inner) }),
      };
    },
  };
}
