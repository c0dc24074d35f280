// The skills: what an agent could have stored. `text` says how in words; make.mjs adds the package's own description.
// `takes` names the kind of input; `make` loads the package and returns the function that does the work.
import { createRequire } from "node:module";
import vm from "node:vm";

const require = createRequire(import.meta.url);
const lib = async (name) => {
  const module = await import(name);
  return module.default ?? module;
};

const skill = (takes) => (of, text, make) => ({ takes, package: of, text, make });

const markdown = skill("markdown");
const value = skill("value");
const xml = skill("xml");
const schema = skill("schema");
const patch = skill("patch");
const split = skill("split");
const language = skill("language");
const word = skill("word");
const date = skill("date");
const script = skill("script");

const accepts = (parse) => (input) => {
  try {
    parse(input);
    return true;
  } catch {
    return false;
  }
};

/** ISO 639 code of a language's English name. */
const languageNames = () => {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const letters = "abcdefghijklmnopqrstuvwxyz".split("");
  const codes = letters.flatMap((a) => letters.map((b) => a + b));
  return new Map(codes.map((code) => [names.of(code)?.toLowerCase(), code]));
};

export const SKILLS = [
  markdown("commonmark", "Turn Markdown into HTML with commonmark.js", async () => {
    const { Parser, HtmlRenderer } = await import("commonmark");
    return (text) => new HtmlRenderer().render(new Parser().parse(text));
  }),
  markdown("marked", "Turn Markdown into HTML with marked", async () => (await import("marked")).marked.parse),
  markdown("marked", "Turn Markdown into HTML with marked, GitHub flavour off", async () => {
    const { marked } = await import("marked");
    return (text) => marked.parse(text, { gfm: false });
  }),
  markdown("marked", "Turn Markdown into HTML with marked in pedantic mode, as the original markdown.pl did", async () => {
    const { marked } = await import("marked");
    return (text) => marked.parse(text, { pedantic: true });
  }),
  markdown("markdown-it", "Turn Markdown into HTML with markdown-it, default preset", async () => {
    const it = new (await lib("markdown-it"))();
    return (text) => it.render(text);
  }),
  markdown("markdown-it", "Turn Markdown into HTML with markdown-it, default preset, raw HTML and links on", async () => {
    const it = new (await lib("markdown-it"))({ html: true, linkify: true });
    return (text) => it.render(text);
  }),
  markdown("markdown-it", "Turn Markdown into HTML with markdown-it, commonmark preset", async () => {
    const it = new (await lib("markdown-it"))("commonmark");
    return (text) => it.render(text);
  }),
  markdown("micromark", "Turn Markdown into HTML with micromark, safe defaults", async () => (await import("micromark")).micromark),
  markdown("micromark", "Turn Markdown into HTML with micromark, raw HTML allowed", async () => {
    const { micromark } = await import("micromark");
    return (text) => micromark(text, { allowDangerousHtml: true, allowDangerousProtocol: true });
  }),
  markdown("micromark-extension-gfm", "Turn Markdown into HTML with micromark and its GFM extension, raw HTML allowed", async () => {
    const { micromark } = await import("micromark");
    const { gfm, gfmHtml } = await import("micromark-extension-gfm");
    return (text) =>
      micromark(text, {
        allowDangerousHtml: true,
        allowDangerousProtocol: true,
        extensions: [gfm()],
        htmlExtensions: [gfmHtml()],
      });
  }),
  markdown("showdown", "Turn Markdown into HTML with showdown, vanilla flavour", async () => {
    const showdown = await lib("showdown");
    return (text) => new showdown.Converter({ noHeaderId: true }).makeHtml(text);
  }),
  markdown("showdown", "Turn Markdown into HTML with showdown, GitHub flavour", async () => {
    const showdown = await lib("showdown");
    const converter = new showdown.Converter();
    converter.setFlavor("github");
    converter.setOption("noHeaderId", true);
    return (text) => converter.makeHtml(text);
  }),
  markdown("snarkdown", "Turn Markdown into HTML with snarkdown", async () => lib("snarkdown")),
  markdown("remarkable", "Turn Markdown into HTML with remarkable, raw HTML on", async () => {
    const { Remarkable } = await import("remarkable");
    return (text) => new Remarkable({ html: true }).render(text);
  }),
  markdown("remarkable", "Turn Markdown into HTML with remarkable, commonmark preset", async () => {
    const { Remarkable } = await import("remarkable");
    return (text) => new Remarkable("commonmark").render(text);
  }),
  markdown("remark-html", "Turn Markdown into HTML with remark and remark-html, raw HTML kept", async () => {
    const { remark } = await import("remark");
    const processor = remark().use(await lib("remark-html"), { sanitize: false });
    return (text) => String(processor.processSync(text));
  }),

  value("JSON.parse", "Parse JSON text with JSON.parse, built into JavaScript", async () => JSON.parse),
  value("json5", "Parse JSON text with json5", async () => (await lib("json5")).parse),
  value("jsonc-parser", "Parse JSON text with jsonc-parser, ignoring its errors", async () => {
    const { parse } = require("jsonc-parser");
    return (text) => parse(text);
  }),
  value("jsonc-parser", "Parse JSON text with jsonc-parser, comments disallowed, failing on any error that it lists", async () => {
    const { parse } = require("jsonc-parser");
    return (text) => {
      const errors = [];
      const found = parse(text, errors, { disallowComments: true });
      if (errors.length > 0) throw new Error("errors");
      return found;
    };
  }),
  value("jju", "Parse JSON text with jju", async () => (await lib("jju")).parse),
  value("jju", "Parse JSON text with jju in json mode", async () => {
    const jju = await lib("jju");
    return (text) => jju.parse(text, { mode: "json" });
  }),
  value("hjson", "Parse JSON text with hjson", async () => (await lib("hjson")).parse),
  value("comment-json", "Parse JSON text with comment-json", async () => {
    const { parse } = await import("comment-json");
    return (text) => parse(text, null, true);
  }),
  value("lossless-json", "Parse JSON text with lossless-json, numbers as JavaScript numbers", async () => {
    const { parse } = await import("lossless-json");
    return (text) => parse(text, null, Number);
  }),
  value("golden-fleece", "Parse JSON text with golden-fleece", async () => (await lib("golden-fleece")).evaluate),
  value("jsonrepair", "Repair JSON text with jsonrepair, then parse it with JSON.parse", async () => {
    const { jsonrepair } = await import("jsonrepair");
    return (text) => JSON.parse(jsonrepair(text));
  }),
  value("dirty-json", "Parse JSON text with dirty-json", async () => (await lib("dirty-json")).parse),
  value("confbox", "Parse JSON text with confbox", async () => (await import("confbox")).parseJSON),
  value("yaml", "Load YAML with yaml", async () => (await import("yaml")).parse),
  value("yaml", "Load YAML with yaml as YAML 1.1", async () => {
    const { parse } = await import("yaml");
    return (text) => parse(text, { version: "1.1" });
  }),
  value("yaml", "Load YAML with yaml, strict off, unique keys off", async () => {
    const { parse } = await import("yaml");
    return (text) => parse(text, { strict: false, uniqueKeys: false });
  }),
  value("js-yaml", "Load YAML with js-yaml", async () => (await import("js-yaml")).load),
  value("js-yaml4", "Load YAML with js-yaml, version 4", async () => (await lib("js-yaml4")).load),
  value("js-yaml4", "Load YAML with js-yaml, version 4, JSON schema", async () => {
    const yaml = await lib("js-yaml4");
    return (text) => yaml.load(text, { schema: yaml.JSON_SCHEMA });
  }),
  value("js-yaml3", "Load YAML with js-yaml, version 3, safeLoad", async () => (await lib("js-yaml3")).safeLoad),
  value("yamljs", "Load YAML with yamljs", async () => (await lib("yamljs")).parse),
  value("confbox", "Load YAML with confbox", async () => (await import("confbox")).parseYAML),

  xml("fast-xml-parser", "Parse XML with fast-xml-parser", async () => {
    const { XMLParser } = await import("fast-xml-parser");
    return accepts((text) => new XMLParser().parse(text));
  }),
  xml("fast-xml-parser", "Check XML with the validator of fast-xml-parser", async () => {
    const { XMLValidator } = await import("fast-xml-parser");
    return (text) => XMLValidator.validate(text) === true;
  }),
  ...[true, false].map((strict) =>
    xml("sax", `Parse XML with sax, ${strict ? "strict" : "loose"}`, async () => {
      const sax = await lib("sax");
      return accepts((text) => {
        const parser = sax.parser(strict);
        parser.onerror = (error) => {
          throw error;
        };
        parser.write(text).close();
      });
    }),
  ),
  xml("saxes", "Parse XML with saxes", async () => {
    const { SaxesParser } = await import("saxes");
    return accepts((text) => {
      const parser = new SaxesParser();
      parser.on("error", (error) => {
        throw error;
      });
      parser.write(text).close();
    });
  }),
  xml("@xmldom/xmldom", "Parse XML with xmldom", async () => {
    const { DOMParser } = await import("@xmldom/xmldom");
    return accepts((text) => new DOMParser({ onError() {} }).parseFromString(text, "text/xml"));
  }),
  xml("@xmldom/xmldom", "Parse XML with xmldom, failing on every warning", async () => {
    const { DOMParser, onWarningStopParsing } = await import("@xmldom/xmldom");
    return accepts((text) => new DOMParser({ onError: onWarningStopParsing }).parseFromString(text, "text/xml"));
  }),
  xml("xml2js", "Parse XML with xml2js", async () => {
    const { parseStringPromise } = await import("xml2js");
    return (text) =>
      parseStringPromise(text).then(
        () => true,
        () => false,
      );
  }),
  xml("htmlparser2", "Parse XML with htmlparser2 in XML mode", async () => {
    const { parseDocument } = await import("htmlparser2");
    return accepts((text) => parseDocument(text, { xmlMode: true }));
  }),
  xml("xml-js", "Parse XML with xml-js", async () => accepts((await lib("xml-js")).xml2js)),
  xml("txml", "Parse XML with txml", async () => accepts((await import("txml")).parse)),
  xml("@rgrove/parse-xml", "Parse XML with parse-xml", async () => accepts((await import("@rgrove/parse-xml")).parseXml)),
  xml("elementtree", "Parse XML with elementtree", async () => accepts((await lib("elementtree")).parse)),

  schema("ajv", "Validate data against a JSON Schema with Ajv", async () => {
    const { Ajv } = await import("ajv");
    return ({ schema, data }) => new Ajv().compile(schema)(data);
  }),
  schema("ajv", "Validate data against a JSON Schema with Ajv, strict mode off", async () => {
    const { Ajv } = await import("ajv");
    return ({ schema, data }) => new Ajv({ strict: false, logger: false }).compile(schema)(data);
  }),
  schema("ajv", "Validate data against a JSON Schema with Ajv for draft 2019-09, strict mode off", async () => {
    const { Ajv2019 } = await import("ajv/dist/2019.js");
    return ({ schema, data }) => new Ajv2019({ strict: false, logger: false }).compile(schema)(data);
  }),
  schema("ajv-draft-04", "Validate data against a JSON Schema with Ajv for draft 4, strict mode off", async () => {
    const Ajv = require("ajv-draft-04").default;
    return ({ schema, data }) => new Ajv({ strict: false, logger: false }).compile(schema)(data);
  }),
  schema("ajv6", "Validate data against a JSON Schema with Ajv, version 6", async () => {
    const Ajv = await lib("ajv6");
    return ({ schema, data }) => new Ajv({ logger: false }).compile(schema)(data);
  }),
  schema("ajv6", "Validate data against a JSON Schema with Ajv, version 6, set up for draft 4 ids", async () => {
    const Ajv = await lib("ajv6");
    return ({ schema, data }) => {
      const ajv = new Ajv({ schemaId: "id", meta: false, logger: false });
      ajv.addMetaSchema(require("ajv6/lib/refs/json-schema-draft-04.json"));
      return ajv.compile(schema)(data);
    };
  }),
  schema("jsonschema", "Validate data against a JSON Schema with jsonschema", async () => {
    const { validate } = await lib("jsonschema");
    return ({ schema, data }) => validate(data, schema).valid;
  }),
  schema("z-schema", "Validate data against a JSON Schema with z-schema", async () => {
    const ZSchema = await lib("z-schema");
    return ({ schema, data }) => (ZSchema.create?.() ?? new ZSchema()).validate(data, schema);
  }),
  schema("is-my-json-valid", "Validate data against a JSON Schema with is-my-json-valid", async () => {
    const validator = await lib("is-my-json-valid");
    return ({ schema, data }) => validator(schema)(data);
  }),
  ...["4", "7", "2019-09"].map((draft) =>
    schema("@cfworker/json-schema", `Validate data against a JSON Schema with @cfworker/json-schema, draft ${draft}`, async () => {
      const { Validator } = await import("@cfworker/json-schema");
      return ({ schema, data }) => new Validator(schema, draft).validate(data).valid;
    }),
  ),
  schema("tv4", "Validate data against a JSON Schema with tv4", async () => {
    const tv4 = await lib("tv4");
    return ({ schema, data }) => tv4.freshApi().validate(data, schema);
  }),
  schema("jsen", "Validate data against a JSON Schema with jsen", async () => {
    const jsen = await lib("jsen");
    return ({ schema, data }) => jsen(schema)(data);
  }),
  schema("djv", "Validate data against a JSON Schema with djv", async () => {
    const djv = await lib("djv");
    return ({ schema, data }) => {
      const env = djv();
      env.addSchema("test", schema);
      return env.validate("test", data) === undefined;
    };
  }),
  schema("@exodus/schemasafe", "Validate data against a JSON Schema with schemasafe", async () => {
    const { validator } = await lib("@exodus/schemasafe");
    return ({ schema, data }) => validator(schema, { mode: "default" })(data);
  }),
  schema("@exodus/schemasafe", "Validate data against a JSON Schema with schemasafe in lax mode", async () => {
    const { validator } = await lib("@exodus/schemasafe");
    return ({ schema, data }) => validator(schema, { mode: "lax" })(data);
  }),

  ...[true, false].map((validate) =>
    patch("fast-json-patch", `Apply a JSON Patch with fast-json-patch, validation ${validate ? "on" : "off"}`, async () => {
      const { applyPatch } = await lib("fast-json-patch");
      return ({ doc, patch }) => applyPatch(doc, patch, validate).newDocument;
    }),
  ),
  patch("rfc6902", "Apply a JSON Patch with rfc6902", async () => {
    const { applyPatch } = await import("rfc6902");
    return ({ doc, patch }) => {
      const failed = applyPatch(doc, patch).find((one) => one !== null);
      if (failed) throw failed;
      return doc;
    };
  }),
  patch("jsonpatch", "Apply a JSON Patch with jsonpatch", async () => {
    const { apply_patch } = await lib("jsonpatch");
    return ({ doc, patch }) => apply_patch(doc, patch);
  }),
  patch("json-patch", "Apply a JSON Patch with json-patch", async () => {
    const { apply } = await lib("json-patch");
    return ({ doc, patch }) => apply(doc, patch);
  }),
  patch("jiff", "Apply a JSON Patch with jiff", async () => {
    const jiff = await lib("jiff");
    return ({ doc, patch }) => jiff.patch(patch, doc);
  }),
  patch("immutable-json-patch", "Apply a JSON Patch with immutable-json-patch", async () => {
    const { immutableJSONPatch } = await import("immutable-json-patch");
    return ({ doc, patch }) => immutableJSONPatch(doc, patch);
  }),
  patch("just-diff-apply", "Apply a JSON Patch with just-diff-apply", async () => {
    const { diffApply, jsonPatchPathConverter } = await import("just-diff-apply");
    return ({ doc, patch }) => {
      diffApply(doc, patch, jsonPatchPathConverter);
      return doc;
    };
  }),
  patch("json8-patch", "Apply a JSON Patch with json8-patch", async () => {
    const { apply } = await lib("json8-patch");
    return ({ doc, patch }) => apply(doc, patch).doc;
  }),

  ...["grapheme", "word", "sentence"].map((granularity) =>
    split("Intl.Segmenter", `Split text with Intl.Segmenter, built into JavaScript, granularity ${granularity}`, async () => {
      const segmenter = new Intl.Segmenter("en", { granularity });
      return (text) => Array.from(segmenter.segment(text), ({ segment }) => segment);
    }),
  ),
  split("graphemer", "Split text into user-perceived characters with graphemer", async () => {
    const Graphemer = require("graphemer").default;
    return (text) => new Graphemer().splitGraphemes(text);
  }),
  split("grapheme-splitter", "Split text into user-perceived characters with grapheme-splitter", async () => {
    const Splitter = await lib("grapheme-splitter");
    return (text) => new Splitter().splitGraphemes(text);
  }),
  split("unicode-segmenter", "Split text into user-perceived characters with unicode-segmenter", async () => {
    const { splitGraphemes } = await import("unicode-segmenter/grapheme");
    return (text) => [...splitGraphemes(text)];
  }),
  split("lodash", "Split text into characters with lodash toArray", async () => (await lib("lodash")).toArray),
  split("runes", "Split text into characters with runes", async () => lib("runes")),
  split("stringz", "Split text into characters with stringz", async () => (await lib("stringz")).toArray),
  split("Array.from", "Split text into characters with Array.from, built into JavaScript", async () => (text) => Array.from(text)),
  split("String.split", "Split text into words at word boundaries with a regular expression, built into JavaScript", async () => (text) =>
    text.split(/\b/),
  ),
  split("sbd", "Split text into sentences with sbd, white space kept", async () => {
    const { sentences } = await lib("sbd");
    return (text) => sentences(text, { preserve_whitespace: true, newline_boundaries: false });
  }),
  split("sentence-splitter", "Split text into sentences with sentence-splitter, white space added to the sentence before", async () => {
    const { split } = await import("sentence-splitter");
    return (text) =>
      split(text).reduce((found, { type, raw }) => {
        if (type === "Sentence" || found.length === 0) found.push(raw);
        else found[found.length - 1] += raw;
        return found;
      }, []);
  }),
  split("compromise", "Split text into sentences with compromise", async () => {
    const nlp = await lib("compromise");
    return (text) => nlp(text).sentences().out("array");
  }),

  language("franc", "Detect the language of a text with franc", async () => (await import("franc")).franc),
  language("franc-min", "Detect the language of a text with franc-min", async () => (await import("franc-min")).franc),
  language("tinyld", "Detect the language of a text with tinyld", async () => (await import("tinyld")).detect),
  language("tinyld", "Detect the language of a text with the light build of tinyld", async () => (await import("tinyld/light")).detect),
  language("tinyld", "Detect the language of a text with the heavy build of tinyld", async () => (await import("tinyld/heavy")).detect),
  ...["small", "large"].map((size) =>
    language("eld", `Detect the language of a text with eld, ${size} database`, async () => {
      const { eld } = await import(`eld/${size}`);
      return (text) => eld.detect(text).language;
    }),
  ),
  language("languagedetect", "Detect the language of a text with languagedetect", async () => {
    const detector = new (await lib("languagedetect"))();
    const codes = languageNames();
    return (text) => codes.get(detector.detect(text, 1)[0]?.[0]);
  }),
  language("langdetect", "Detect the language of a text with langdetect", async () => (await lib("langdetect")).detectOne),
  language("cld3-asm", "Detect the language of a text with cld3-asm", async () => {
    const factory = await (await lib("cld3-asm")).loadModule();
    const identifier = factory.create(0, 1000);
    return (text) => identifier.findLanguage(text).language;
  }),

  word("pluralize", "Singular of a noun with pluralize", async () => (await lib("pluralize")).singular),
  word("inflection", "Singular of a noun with inflection", async () => (await import("inflection")).singularize),
  word("inflected", "Singular of a noun with inflected", async () => (await import("inflected")).singularize),
  word("inflector-js", "Singular of a noun with inflector-js", async () => (await lib("inflector-js")).singularize),
  word("en-inflectors", "Singular of a noun with en-inflectors", async () => {
    const { Inflectors } = await import("en-inflectors");
    return (text) => new Inflectors(text).toSingular();
  }),
  word("en-inflectors", "Present of a verb with en-inflectors", async () => {
    const { Inflectors } = await import("en-inflectors");
    return (text) => new Inflectors(text).toPresent();
  }),
  word("compromise", "Singular of a noun with compromise", async () => {
    const nlp = await lib("compromise");
    return (text) => nlp(text).tag("Noun").nouns().toSingular().text();
  }),
  word("compromise", "Infinitive of a verb with compromise", async () => {
    const nlp = await lib("compromise");
    return (text) => nlp(text).tag("Verb").verbs().toInfinitive().text();
  }),
  ...["noun", "verb", "adjective"].map((part) =>
    word("wink-lemmatizer", `Lemma of a word as ${part} with wink-lemmatizer`, async () => (await lib("wink-lemmatizer"))[part]),
  ),
  word("lemmatizer", "Lemma of a word with lemmatizer", async () => {
    const { lemmatizer } = require("lemmatizer");
    return (text) => lemmatizer(text);
  }),
  word("stemmer", "Stem of a word with stemmer, Porter's algorithm", async () => (await import("stemmer")).stemmer),

  date("chrono-node", "Find the date that a phrase means with chrono", async () => {
    const { parseDate } = await import("chrono-node");
    return ({ text, now }) => parseDate(text, now);
  }),
  date("chrono-node", "Find the date that a phrase means with chrono in strict mode", async () => {
    const { strict } = await import("chrono-node");
    return ({ text, now }) => strict.parseDate(text, now);
  }),
  date("chrono-node", "Find the date that a phrase means with chrono, always in the future", async () => {
    const { parseDate } = await import("chrono-node");
    return ({ text, now }) => parseDate(text, now, { forwardDate: true });
  }),
  date("sugar-date", "Find the date that a phrase means with Sugar", async () => {
    const Sugar = await lib("sugar-date");
    return ({ text }) => Sugar.Date.create(text);
  }),
  date("sugar-date", "Find the date that a phrase means with Sugar, preferring the future", async () => {
    const Sugar = await lib("sugar-date");
    return ({ text }) => Sugar.Date.create(text, { future: true });
  }),
  date("any-date-parser", "Find the date that a phrase means with any-date-parser", async () => {
    const parser = await lib("any-date-parser");
    return ({ text }) => parser.fromString(text);
  }),
  date("parse-messy-time", "Find the date that a phrase means with parse-messy-time", async () => {
    const parse = await lib("parse-messy-time");
    return ({ text, now }) => parse(text, { now });
  }),
  date("date.js", "Find the date that a phrase means with date.js", async () => {
    const parse = await lib("date.js");
    return ({ text, now }) => parse(text, now);
  }),
  date("time-speak", "Find the date that a phrase means with time-speak", async () => {
    const { parse } = await import("time-speak");
    return ({ text }) => {
      const found = parse(text);
      return found.date ?? found;
    };
  }),
  date("Date", "Find the date that a phrase means with new Date, built into JavaScript", async () => ({ text }) => new Date(text)),

  script("acorn", "Parse JavaScript with acorn, latest edition", async () => {
    const { parse } = await import("acorn");
    return accepts(({ code, module }) => parse(code, { ecmaVersion: "latest", sourceType: module ? "module" : "script" }));
  }),
  script("acorn", "Parse JavaScript with acorn, edition 2015", async () => {
    const { parse } = await import("acorn");
    return accepts(({ code, module }) => parse(code, { ecmaVersion: 2015, sourceType: module ? "module" : "script" }));
  }),
  script("esprima", "Parse JavaScript with esprima", async () => {
    const esprima = require("esprima");
    return accepts(({ code, module }) => (module ? esprima.parseModule(code) : esprima.parseScript(code)));
  }),
  script("espree", "Parse JavaScript with espree, latest edition", async () => {
    const { parse } = await import("espree");
    return accepts(({ code, module }) => parse(code, { ecmaVersion: "latest", sourceType: module ? "module" : "script" }));
  }),
  script("meriyah", "Parse JavaScript with meriyah", async () => {
    const { parseModule, parseScript } = await import("meriyah");
    return accepts(({ code, module }) => (module ? parseModule(code) : parseScript(code)));
  }),
  script("meriyah", "Parse JavaScript with meriyah, web compatibility and lexical checks on", async () => {
    const { parseModule, parseScript } = await import("meriyah");
    const options = { webcompat: true, lexical: true };
    return accepts(({ code, module }) => (module ? parseModule(code, options) : parseScript(code, options)));
  }),
  script("@babel/parser", "Parse JavaScript with Babel's parser", async () => {
    const { parse } = require("@babel/parser");
    return accepts(({ code, module }) => parse(code, { sourceType: module ? "module" : "script" }));
  }),
  script("typescript", "Parse JavaScript with the TypeScript compiler, syntax errors only", async () => {
    const ts = await lib("typescript");
    return ({ code }) =>
      ts.transpileModule(code, { fileName: "a.js", reportDiagnostics: true, compilerOptions: { allowJs: true, target: "esnext" } })
        .diagnostics.length === 0;
  }),
  script("sucrase", "Parse JavaScript with sucrase", async () => {
    const { transform } = await import("sucrase");
    return accepts(({ code }) => transform(code, { transforms: [] }));
  }),
  script("cherow", "Parse JavaScript with cherow", async () => {
    const { parseModule, parseScript } = await lib("cherow");
    return accepts(({ code, module }) => (module ? parseModule(code) : parseScript(code)));
  }),
  script("shift-parser", "Parse JavaScript with shift-parser", async () => {
    const { parseModule, parseScript } = await lib("shift-parser");
    return accepts(({ code, module }) => (module ? parseModule(code) : parseScript(code)));
  }),
  script("vm.Script", "Compile JavaScript with vm.Script, built into Node, as a script", async () => accepts(({ code }) => new vm.Script(code))),
];
