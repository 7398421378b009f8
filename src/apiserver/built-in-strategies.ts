import { builtInStrategy } from './builtin/built-in-strategy.js';
import { compileRuleSteps } from './cel/definition-rules.js';
import { ruleProblems } from './cel/validate-rules.js';
import { definitionStrategy } from './crd/definition-strategy.js';
import type { DefinitionOptions } from './crd/validate-definition.js';
import type { BuiltInResource } from './registry/built-in-types.js';
import type { Strategy } from './registry/strategy.js';
import type { Schema } from './schema/schema.js';
import type { BuiltInSurface } from './surfaces/built-in-surface.js';

/** The strategies of all built-in kinds of a surface. */
export function builtInStrategies(options: {
  readonly surface: BuiltInSurface;
  readonly serviceCidr: string;
  readonly builtInAt: NonNullable<DefinitionOptions['builtInAt']>;
}): (resource: BuiltInResource, schema: Schema) => Strategy {
  const { surface, serviceCidr, builtInAt } = options;
  const objectMeta = surface.type('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  return (resource, schema) => {
    if (resource.group === 'apiextensions.k8s.io') {
      return definitionStrategy({
        compileRules: compileRuleSteps,
        ruleProblems,
        builtInAt,
        ...(objectMeta ? { objectMeta } : {}),
      });
    }
    const hasStatus = resource.subresources.includes('status');
    return builtInStrategy({ ...resource, hasStatus, surfaceVersion: surface.version }, schema, {
      serviceRanges: [serviceCidr],
    });
  };
}
