import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The page's program and its style, as the browser gets them. */
export interface Bundle {
  readonly script: string;
  readonly style: string;
}

const ENTRY = fileURLToPath(new URL('../app/main.tsx', import.meta.url));

/** Makes the page from its sources, packages included, in memory. @throws Error with esbuild's messages */
export async function buildBundle(entry = ENTRY): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    outdir: '/page',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.svg': 'dataurl', '.png': 'dataurl' },
    logLevel: 'silent',
  });
  const ending = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { script: ending('.js'), style: ending('.css') };
}

/** The page itself: everything on it is made by the script. `token` is base64url. */
export const documentOf = (token: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>kdebug play</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/app.css?token=${token}">
<script type="module" src="/app.js?token=${token}"></script>
</head>
<body><div id="root"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
`;
