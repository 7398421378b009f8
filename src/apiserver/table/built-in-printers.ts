import type { PrinterTable } from './cells.js';
import { CORE_PRINTERS } from './core-printers.js';
import { PLAIN_PRINTER } from './custom-printer.js';
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

/** The printer of a built-in resource; all its versions are listed alike. */
export function builtInPrinter(group: string, resource: string): TablePrinter {
  const key = `${group}/${resource}`;
  return Object.hasOwn(PRINTERS, key) ? PRINTERS[key]! : PLAIN_PRINTER;
}
