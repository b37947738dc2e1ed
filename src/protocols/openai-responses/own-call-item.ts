import type { Delta } from '../../canonical/event.ts'
import { isRecord, type Json, parseObject } from '../../canonical/json.ts'
import { brokenInput, unfitInput } from '../call-input.ts'
import type { OwnTool } from './client-tools.ts'
import type { ItemStatus, OutputItem, WireEvent } from './output-items.ts'

/**
 * A call of a tool that the vendor defines and the client runs. It is sent as a whole, because the model does
 * not always write the type of the action first. `response.shell_call_command.*` are the only events that
 * `openai` 7.55.0 has for such calls, read 2026-11-28.
 */
export class OwnCallItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly hasRefusal = false
  readonly #id: string
  readonly #tool: OwnTool
  readonly #callId: string
  #text = ''

  constructor(idOf: (prefix: string) => string, tool: OwnTool, callId: string) {
    this.#id = idOf(tool.idPrefix)
    this.#tool = tool
    this.#callId = callId
  }

  /** Whether the arguments are valid for a call. */
  get isWhole(): boolean {
    const input = this.#input
    return input !== undefined && this.#tool.itemOf(input) !== undefined
  }

  /** Throws GatewayError `upstream_error` if the call is incomplete. */
  get json(): Json {
    const { call } = this.#tool
    return {
      id: this.#id,
      type: call,
      // A patch has the state `completed` or none.
      status: call === 'apply_patch_call' && this.status === 'incomplete' ? 'completed' : this.status,
      call_id: this.#callId,
      ...this.#members,
      ...(this.status === 'in_progress' && this.#withoutCommands),
    }
  }

  /** Returns the events between the announcement and the end of the item. */
  steps(): WireEvent[] {
    return this.#commands.flatMap((command, command_index) => {
      const at = { output_index: this.place, command_index }
      return [
        { type: 'response.shell_call_command.added', ...at, command: '' },
        { type: 'response.shell_call_command.delta', ...at, delta: command },
        { type: 'response.shell_call_command.done', ...at, command },
      ]
    })
  }

  add(_part: number, delta: Delta): WireEvent[] {
    if (delta.type === 'text') this.#text += delta.text
    return []
  }

  endPart(): WireEvent[] {
    return []
  }

  get #commands(): string[] {
    const { action } = this.#members
    const commands = isRecord(action) ? action.commands : undefined
    return Array.isArray(commands) ? commands.map(String) : []
  }

  /** The initial state of a shell call, whose commands are sent one by one. */
  get #withoutCommands(): Json {
    const { action } = this.#members
    return isRecord(action) && 'commands' in action ? { action: { ...action, commands: [] } } : {}
  }

  get #members(): Json {
    const { name, itemOf } = this.#tool
    const input = this.#input
    if (input === undefined) throw brokenInput(name)
    const members = itemOf(input)
    if (members === undefined) throw unfitInput(name)
    return members
  }

  get #input(): Json | undefined {
    return this.#text.trim() === '' ? {} : parseObject(this.#text)
  }
}
