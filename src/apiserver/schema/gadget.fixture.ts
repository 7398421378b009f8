import type { JsonObject } from '../../kube/json.js';
import { customResourceSchema } from './custom-resource-schema.js';

/** One field for everything a definition can ask of a value. */
export const GADGET_OPEN_API: JsonObject = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['must'],
      properties: {
        must: { type: 'string' },
        int: { type: 'integer', minimum: 2, maximum: 5 },
        num: { type: 'number', minimum: 1.5, exclusiveMinimum: true, multipleOf: 0.5 },
        i32: { type: 'integer', format: 'int32' },
        b: { type: 'boolean' },
        s: { type: 'string', minLength: 2, maxLength: 4 },
        pat: { type: 'string', pattern: '^a+$' },
        en: { type: 'string', enum: ['x', 'y'] },
        list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string' }, z: { type: 'string', default: 'here' } },
          },
        },
        m: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
        ios: { 'x-kubernetes-int-or-string': true },
        dt: { type: 'string', format: 'date-time' },
        by: { type: 'string', format: 'byte' },
        nul: { type: 'string', nullable: true },
        nulldef: { type: 'string', default: 'd' },
        obj: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 3 } } },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      },
    },
  },
};

export const GADGET = customResourceSchema(GADGET_OPEN_API, {
  type: 'object',
  properties: { name: { type: 'string' } },
});
