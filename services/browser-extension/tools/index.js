import { click } from './click.js';
import { getText } from './get_text.js';
import { listTabs } from './list_tabs.js';
import { navigate } from './navigate.js';
import { screenshot } from './screenshot.js';
import { type } from './type.js';

/** Every tool of this extension; `register` lists their names as available_tools, and their definitions as tools. */
export const TOOLS = [navigate, click, type, screenshot, getText, listTabs];
