import { useEffect, useState } from 'preact/hooks';

/** Whether the page is being printed: a printed table has no rows to scroll to. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const query = matchMedia('print');
    const change = () => setPrinting(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return isPrinting;
}
