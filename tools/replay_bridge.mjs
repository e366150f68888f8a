// One plugin for `dsh`, used by record_replay_home.py: it puts selfnote's text into each prompt, offers two of its
// tools, tells it of compactions, and plays the turns that arrive on stdin. All memory work is done by replay_peer.py.
//
// stdin, one JSON object a line:   {"open": {"session", "cwd"}} | {"resume": session} | {"user": text} | {"command": "/…"} | {"close": true}
// stdout, one line for each:       {"step": "done", "seq": events so far, "ended": reason of the turn | result of the command}
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const name = 'selfnote-replay'
export const inject = ['agentDefaultModel', 'agents', 'sessions', 'systemPrompt', 'tools']

const delegated = header => header.origin === 'subagent' || (header.delegationDepth ?? 0) > 0

// A question to the Python side and its answer, matched by a number. A recording must not go on without its memory:
// when the peer dies the harness ends.
function startPeer([command, ...args]) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let count = 0
  child.on('exit', code => { if (code) process.exit(3) })
  createInterface({ input: child.stdout }).on('line', line => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)(result)
    waiting.delete(id)
  })
  return {
    ask: (verb, values) => new Promise(resolve => {
      waiting.set(++count, resolve)
      child.stdin.write(`${JSON.stringify({ id: count, verb, ...values })}\n`)
    }),
    end: () => child.stdin.end(),
  }
}

export function apply(ctx, config) {
  const peer = startPeer(config.peer)
  const turns = new Map() // session id -> number of the running turn
  let told = Promise.resolve() // the last notice to the peer, answered or not
  ctx.effect(() => peer.end)

  ctx.on('session/event', (session, event) => {
    if (event.type === 'turn/start') turns.set(session.id, event.data.turn)
    if (event.type === 'compaction/end' && !delegated(session.header))
      told = peer.ask('compaction', { session: session.id, failed: event.data.error !== undefined })
  })

  ctx.on('system-prompt/assemble', async (assembly, context, next) => {
    const out = await next()
    const session = context.agent?.session
    if (!session) return out
    const text = await peer.ask('compose', {
      session: session.id, turn: turns.get(session.id), cwd: session.header.cwd, delegated: delegated(session.header),
    })
    if (text) out.sections.push({ name: 'selfnote:memory', text })
    return out
  })

  for (const { name: tool, description, parameters } of config.tools) {
    ctx.tools.register({
      name: tool,
      description,
      parameters,
      output: { schema: { type: 'string' }, render: (_, value) => [{ type: 'text', text: value }] },
      execute: (values, { agent: { session } }) =>
        peer.ask('tool', { session: session.id, tool, arguments: values, delegated: delegated(session.header) }),
    })
  }

  const exit = ctx.get('appExit')
  play(ctx, config, () => told).then(() => exit(0), error => {
    process.stderr.write(`${error?.stack ?? error}\n`)
    process.exit(1)
  })
}

async function play(ctx, config, told) {
  await ctx.get('loader')?.await()
  const load = one => import(pathToFileURL(join(config.packages, one, 'lib/index.js')).href)
  const { createUserMessage } = await load('dsh-llm')
  const { installModelSelection } = await load('dsh-agent')
  const current = ctx.agentDefaultModel.currentSelection()
  const options = {
    agentOptions: { provider: current.provider, model: current.model },
    setup: own => { installModelSelection(own, { current, assembled: undefined }) },
  }
  let agent
  for await (const line of createInterface({ input: process.stdin })) {
    const step = JSON.parse(line)
    let ended
    if (step.open) ({ agent } = await ctx.agents.create({ sessionId: step.open.session, meta: { cwd: step.open.cwd }, ...options }))
    else if (step.resume) ({ agent } = await ctx.agents.resume({ resumeSessionId: step.resume, ...options }))
    else if (step.command) ended = (await ctx.get('commands').execute(agent, step.command, [], new AbortController().signal)).result
    else if (step.user) {
      const content = [{ type: 'text', text: step.user }]
      agent.followup(createUserMessage({ content, source: { kind: 'user' } }))
    }
    await agent.whenIdle()
    await told()
    await ctx.sessions.flush(agent.session)
    if (step.user) ended = agent.session.events.findLast(event => event.type === 'turn/end').data.reason
    process.stdout.write(`${JSON.stringify({ step: 'done', seq: agent.session.seq, ended })}\n`)
    if (step.close) break
  }
  process.stdin.destroy()
}
