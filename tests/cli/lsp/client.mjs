// A client of `noslip lsp` by the libraries that editors use.
//   node client.mjs PROGRAM MODELS-FOLDER
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import assert from 'node:assert'
import * as rpc from 'vscode-jsonrpc/node'
import * as lsp from 'vscode-languageserver-protocol/node'

const [program, models] = process.argv.slice(2)
const server = spawn(program, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const c = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin))
const waiting = new Map()
c.onNotification(lsp.PublishDiagnosticsNotification.type,
  p => waiting.get(p.uri)?.(p.diagnostics))
c.listen()
const diagnostics = uri => new Promise(done => waiting.set(uri, done))

const { capabilities } = await c.sendRequest(lsp.InitializeRequest.type,
  { processId: process.pid, rootUri: null, capabilities: {} })
assert(capabilities.hoverProvider && capabilities.definitionProvider)
c.sendNotification(lsp.InitializedNotification.type, {})

async function open (uri, text) {
  const found = diagnostics(uri)
  c.sendNotification(lsp.DidOpenTextDocumentNotification.type,
    { textDocument: { uri, languageId: 'noslip', version: 1, text } })
  return found
}
async function change (uri, text) {
  const found = diagnostics(uri)
  c.sendNotification(lsp.DidChangeTextDocumentNotification.type,
    { textDocument: { uri, version: 2 }, contentChanges: [{ text }] })
  return found
}
function place (text, word, skip = 0) {
  const at = text.indexOf(word, skip)
  const before = text.slice(0, at).split('\n')
  return { line: before.length - 1, character: before.at(-1).length }
}

// errors, and their end; characters count as UTF-16 units, behind a comment with a wide one
const uri = 'file:///a.mech'
const good = '# \u{1F600} ä\nparam m = 2 kg\ncoordinate x\nlagrangian m*x\'^2/2\n' +
  'start { x = 3 }\nrun { until 1 }\n'
const bad = good.replace("lagrangian m*x'", "lagrangian mm*x'")
let found = await open(uri, bad)
assert.equal(found.length, 1)
assert.equal(found[0].code, 'undefined-name')
assert.deepEqual(found[0].range.start, place(bad, 'mm'))
assert.deepEqual(await change(uri, good), [])
const wide = await change(uri, good.replace('run {', 'title "\u{1F600}" x\nrun {'))
assert.equal(wide[0].range.start.character, 11)
await change(uri, good)

// hover: value and unit; what a keyword is
const ask = (type, word, skip) => c.sendRequest(type,
  { textDocument: { uri }, position: place(good, word, skip) })
assert.match((await ask(lsp.HoverRequest.type, 'm*')).contents.value, /m = 2 kg/)
assert.match((await ask(lsp.HoverRequest.type, "x'")).contents.value, /x = 3/)
assert.match((await ask(lsp.HoverRequest.type, 'lagrangian')).contents.value, /kinetic/)

// definition, completion
const defined = await ask(lsp.DefinitionRequest.type, 'm*')
assert.deepEqual(defined.range.start, place(good, 'm ='))
const items = await ask(lsp.CompletionRequest.type, 'run')
for (const word of ['constraint', 'm', 'x', 'sin', 'kg', 'energy'])
  assert(items.some(i => i.label === word), word)

// layout: of an untidy text, and nothing for models and claims of the gallery
const options = { tabSize: 4, insertSpaces: true }
await change(uri, good.replace('param m = 2 kg', 'param m=2 kg'))
const edits = await c.sendRequest(lsp.DocumentFormattingRequest.type,
  { textDocument: { uri }, options })
assert.equal(edits[0].newText, good)
let count = 0
const claims = readdirSync(join(models, 'claims')).filter(f => f.endsWith('.claim'))
for (const name of [...readdirSync(models).filter(f => f.endsWith('.mech')),
  ...claims.map(f => join('claims', f))]) {
  const of = 'file:///' + name
  found = await open(of, readFileSync(join(models, name), 'utf8'))
  assert(!found.some(d => d.severity === 1), name)
  assert.deepEqual(await c.sendRequest(lsp.DocumentFormattingRequest.type,
    { textDocument: { uri: of }, options }), [], name)
  c.sendNotification(lsp.DidCloseTextDocumentNotification.type, { textDocument: { uri: of } })
  count++
}

// a claim: errors with their place, layout
const claim = 'file:///own.claim'
const said = 'run one: rattleback\nexpect "end": end(one, omega.z) > 0\n'
found = await open(claim, said.replace('expect', 'expct'))
assert.equal(found[0].range.start.line, 1)
assert.deepEqual(await change(claim, said.replace('one: ', 'one:')), [])
assert.equal((await c.sendRequest(lsp.DocumentFormattingRequest.type,
  { textDocument: { uri: claim }, options }))[0].newText, said)
await assert.rejects(c.sendRequest('noslip/none', {}), /not known/)
const ended = new Promise(done => server.on('exit', done))
await c.sendRequest(lsp.ShutdownRequest.type)
c.sendNotification(lsp.ExitNotification.type)
assert.equal(await ended, 0)
console.log(`ok: ${count} models and claims`)
process.exit(0)
