import type { PrinterTable } from './cells.js';
import { CORE_PRINTERS } from './core-printers.js';
import { PLAIN_PRINTER } from './custom-printer.js';
import { DEFINITION_PRINTER } from './definition-printer.js';
import { NETWORK_PRINTERS } from './network-printers.js';
import { POD_PRINTER } from './pod-printer.js';
import { POLICY_PRINTERS } from './policy-printers.js';
import { STORAGE_PRINTERS } from './storage-printers.js';
import type { TablePrinter } from './table.js';
import { WORKLOAD_PRINTERS } from './workload-printers.js';

const PRINTERS: PrinterTable = {
  '/pods': POD_PRINTER,
  ...CORE_PRINTERS,
  ...WORKLOAD_PRINTERS,
  ...NETWORK_PRINTERS,
  ...POLICY_PRINTERS,
  ...STORAGE_PRINTERS,
};

/** Printers that came with a minor version; before it the resource had none. */
const SINCE: Readonly<Record<string, { readonly minor: number; readonly printer: TablePrinter }>> = {
  'apiextensions.k8s.io/customresourcedefinitions': { minor: 37, printer: DEFINITION_PRINTER },
};

/** The printer of a built-in resource in Kubernetes 1.`minor`; all versions of the resource are listed alike. */
export function builtInPrinter(group: string, resource: string, minor: number): TablePrinter {
  const key = `${group}/${resource}`;
  const newer = Object.hasOwn(SINCE, key) ? SINCE[key]! : undefined;
  if (newer !== undefined && minor >= newer.minor) return newer.printer;
  return Object.hasOwn(PRINTERS, key) ? PRINTERS[key]! : PLAIN_PRINTER;
}
