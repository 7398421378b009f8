import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/frame.css';
import './style/views.css';
import './style/narrow-and-print.css';
import { App } from './app.js';
import { browserConnection } from './live/browser-connection.js';
import { Connection } from './live/connection.js';
import { LiveStore } from './live/live-store.js';
import { startTheme } from './theme.js';

startTheme();
const store = new LiveStore();
const connection = new Connection(browserConnection, store.set);
const root = document.getElementById('app') ?? document.createElement('div');
// The server wrote the verdict of that moment for browsers without scripts.
document.body.replaceChildren(root);
render(<App store={store} tryNow={() => connection.tryNow()} />, root);
connection.tryNow();
addEventListener('online', () => connection.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connection.tryNow();
});
