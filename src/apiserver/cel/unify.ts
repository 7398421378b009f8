import { type CelType, DYN, isDynamic, sameType } from './cel-types.js';

/** The types bound to the type variables of one expression. Only `assignable` and `allAssignable` bind. */
export class Substitutions {
  readonly #bound = new Map<string, CelType>();
  /** Bindings of the current attempt, undone if it fails. A copy of all bindings would make the cost quadratic. */
  #trail: { readonly name: string; readonly before: CelType | undefined }[] = [];
  #count = 0;

  fresh(): CelType {
    return { kind: 'param', name: `_var${this.#count++}`, params: [] };
  }

  /** Whether a value of the left type may be used where the right type is expected; binds variables only then. */
  assignable(left: CelType, right: CelType): boolean {
    return this.allAssignable([left], [right]);
  }

  allAssignable(left: readonly CelType[], right: readonly CelType[]): boolean {
    if (left.length !== right.length) return false;
    this.#trail = [];
    if (this.#tryAll(left, right)) return true;
    for (const { name, before } of this.#trail.reverse()) {
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
    return false;
  }

  /** Replaces bound variables, and free ones by dyn if `freeIsDyn`. */
  resolve(type: CelType, freeIsDyn = false): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name);
      if (bound !== undefined) return this.resolve(bound, freeIsDyn);
      return freeIsDyn ? DYN : type;
    }
    if (type.params.length === 0) return type;
    const params = type.params.map((each) => this.resolve(each, freeIsDyn));
    return params.every((each, index) => each === type.params[index]) ? type : { ...type, params };
  }

  #tryAll(left: readonly CelType[], right: readonly CelType[]): boolean {
    return left.length === right.length && left.every((each, index) => this.#try(each, right[index]!));
  }

  #try(left: CelType, right: CelType): boolean {
    if (right.kind === 'param') {
      const wasBound = this.#bound.has(right.name);
      if (this.#substitute(right, left)) return true;
      if (wasBound) return false;
    }
    if (left.kind === 'param') return this.#substitute(left, right);
    if (isDynamic(left) || isDynamic(right)) return true;
    if (left.kind === 'null') return isNullable(right);
    if (right.kind === 'null') return isNullable(left);
    if (left.kind !== right.kind) return false;
    switch (left.kind) {
      case 'type':
        return true;
      case 'list':
      case 'map':
      case 'optional':
        return this.#tryAll(left.params, right.params);
      default:
        return sameType(left, right);
    }
  }

  #substitute(variable: CelType, type: CelType): boolean {
    if (sameType(variable, type)) return true;
    const bound = this.#bound.get(variable.name);
    if (bound === undefined) {
      if (this.#mentions(type, variable.name)) return false;
      this.#bind(variable.name, type);
      return true;
    }
    if (sameType(bound, type)) return true;
    if (!this.#try(type, bound)) return false;
    const general = mostGeneral(type, bound);
    if (!this.#mentions(general, variable.name)) this.#bind(variable.name, general);
    return true;
  }

  #bind(name: string, type: CelType): void {
    this.#trail.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  #mentions(type: CelType, name: string): boolean {
    if (type.kind === 'param') {
      if (type.name === name) return true;
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#mentions(bound, name);
    }
    return type.params.some((each) => this.#mentions(each, name));
  }
}

export function mostGeneral(left: CelType, right: CelType): CelType {
  return isLessSpecific(left, right) ? left : right;
}

function isLessSpecific(left: CelType, right: CelType): boolean {
  if (left.kind === 'dyn' || left.kind === 'param') return true;
  if (right.kind === 'dyn' || right.kind === 'param' || left.kind !== right.kind) return false;
  if (left.kind === 'type') return true;
  if (left.kind === 'list' || left.kind === 'map' || left.kind === 'optional') {
    return left.params.every((each, index) => isLessSpecific(each, right.params[index]!));
  }
  return sameType(left, right);
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'opaque', 'optional', 'struct', 'duration', 'timestamp'].includes(kind);
}
