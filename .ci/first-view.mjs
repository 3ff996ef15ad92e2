// Serves Swagger UI, Scalar and Redoc with one OpenAPI document, each set up as in its documentation: node first-view.mjs TOOLS
// DOCUMENT. All responses are compressed in the same way. The browser can cache files of packages permanently, as with URLs that
// contain a version. It requests pages and the document again, and unchanged ones get 304.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const [tools, document] = process.argv.slice(2);

const page = (title, head, body) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    ${head}
  </head>
  <body>
    ${body}
  </body>
</html>
`;

const pages = {
  "/swagger-ui/": page(
    "Swagger UI",
    '<link rel="stylesheet" href="swagger-ui/swagger-ui.css" />',
    `<div id="swagger-ui"></div>
    <script src="swagger-ui/swagger-ui-bundle.js"></script>
    <script>window.onload = () => { window.ui = SwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger-ui" }); };</script>`,
  ),
  "/scalar/": page(
    "Scalar",
    "",
    `<div id="app"></div>
    <script src="scalar/dist/browser/standalone.js"></script>
    <script>Scalar.createApiReference("#app", { url: "openapi.json" });</script>`,
  ),
  "/redoc/": page(
    "Redoc",
    "",
    `<redoc spec-url="openapi.json"></redoc>
    <script type="module" src="redoc/bundles/redoc.standalone.js"></script>`,
  ),
  "/redoc-2/": page(
    "Redoc 2",
    "",
    `<redoc spec-url="openapi.json"></redoc>
    <script src="redoc-2/bundles/redoc.standalone.js"></script>`,
  ),
};

const MEDIA = { ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".png": "image/png" };

/** Returns the bytes and media type at a path, and whether they never change, or undefined if there is nothing. */
function at(path) {
  if (Object.hasOwn(pages, path)) return { bytes: Buffer.from(pages[path]), media: "text/html" };
  if (path.endsWith("/openapi.json")) return { bytes: readFileSync(document), media: MEDIA[".json"] };
  try {
    // `/redoc/redoc/bundles/x.js` is `bundles/x.js` of the package `redoc`.
    const bytes = readFileSync(join(tools, normalize(path.replace(/^\/[^/]+/, ""))));
    return { bytes, media: MEDIA[extname(path)] ?? "application/octet-stream", isFixed: true };
  } catch {
    return undefined;
  }
}

const server = createServer((request, response) => {
  const found = at(new URL(request.url, "http://localhost").pathname);
  if (found === undefined) {
    response.writeHead(404).end();
    return;
  }
  const tag = `"${createHash("sha256").update(found.bytes).digest("base64url")}"`;
  const headers = { ETag: tag, "Cache-Control": found.isFixed ? "max-age=31536000, immutable" : "no-cache" };
  if (request.headers["if-none-match"] === tag) {
    response.writeHead(304, headers).end();
    return;
  }
  const bytes = gzipSync(found.bytes, { level: 9 });
  response.writeHead(200, { ...headers, "Content-Type": `${found.media}; charset=utf-8`, "Content-Encoding": "gzip", "Content-Length": bytes.length });
  response.end(bytes);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
