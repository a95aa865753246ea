// Builds the components into ../built, with their digests in the names, and notes what they were built from.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "..", "built");

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : [path];
  });
}

const digest = (content) => createHash("sha256").update(content).digest("hex");

async function bundled(entry, define = {}) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "eof",
    loader: { ".css": "text" },
    define,
    write: false,
    logLevel: "warning",
  });
  return result.outputFiles[0].contents;
}

function written(name, content) {
  const file = `${name}.${digest(content).slice(0, 12)}.js`;
  writeFileSync(join(built, file), content);
  return file;
}

rmSync(built, { recursive: true, force: true });
mkdirSync(built);
const layout = written("layout", await bundled("graph/layout.js"));
const files = [
  layout,
  written("graph", await bundled("graph/index.js", { LAYOUT: JSON.stringify(`./${layout}`) })),
  written("editor", await bundled("editor/index.js")),
  written("code", await bundled("code/index.js")),
  written("panes", await bundled("panes/index.js")),
  written("copy", await bundled("copy/index.js")),
  written("back", await bundled("back/index.js")),
  written("cells", await bundled("cells/index.js")),
];
const of = Object.fromEntries(
  sources(here)
    .map((path) => [relative(here, path), digest(readFileSync(path))])
    .sort(),
);
writeFileSync(join(built, "built.json"), JSON.stringify({ files, of }, null, 1) + "\n");
