/** The section about tools that the client runs of docs/reference/translation.md. */
export const clientToolsText = `## Tools that the client runs

Some tools have a form defined by the vendor, but run on the client's side. In other formats each becomes a function, with a
note: the model gets a description of the tool and the schema of its input.

| tool                                                      | function         | its calls and results                         |
| --------------------------------------------------------- | ---------------- | --------------------------------------------- |
| Messages: \`bash_...\`, \`text_editor_...\`, \`memory_...\`     | of the same name | as of any tool                                |
| Messages: \`computer_20251124\` and earlier                 | of the same name | as of any tool                                |
| Responses: \`shell\`, without \`environment\` or with \`local\` | \`shell\`          | \`shell_call\`, \`shell_call_output\`             |
| Responses: \`local_shell\`                                  | \`local_shell\`    | \`local_shell_call\`, \`local_shell_call_output\` |
| Responses: \`apply_patch\`                                  | \`apply_patch\`    | \`apply_patch_call\`, \`apply_patch_call_output\` |
| Responses: \`computer\`, \`computer_use_preview\`             | \`computer\`       | \`computer_call\`, \`computer_call_output\`       |

A toolset, such as \`computer_toolset_20260801\`, does not become a function: it is many tools. Neither does a \`shell\` in a
container (\`container_auto\`, \`container_reference\`), which the vendor itself runs. Like the vendor's other tools, both are
refused if there is no other tool, and otherwise left out with a note. Chat Completions and Gemini have no tools of this
kind.

For clients of Responses:

- A call of the function becomes the tool's item, and such an item of an earlier turn becomes a call. \`tool_choice\` and \`allowed_tools\` name the tool
  by its type.
- In a stream the item is announced when its arguments are whole: before that, the kind of action is unknown. The commands of a \`shell\`
  come as \`response.shell_call_command.*\`. An answer that is cut off leaves an unfinished call out.
- Arguments that do not fit are an error, a 502 or \`response.failed\`: no command runs that the model did not give. For a
  \`shell\`, one text is one command. A click without a button is a left click; a scroll without a distance in one direction
  does not move in that direction.
- For a \`shell\`, the model sees its output, its \`stderr\`, and the exit code or a timeout. Clients send the whole output with
  the \`max_output_length\` that the model gave: the gateway cuts out the middle of a longer one. A failed patch is a failed
  result.
- A screenshot is a picture in the result; on Chat, whose results hold only text, it follows in a user message. Vendors
  shrink large pictures before the model sees them, so its coordinates may refer to the smaller one: send small ones, such as
  1280 x 800 pixels.
- Safety checks of computer calls are dropped with a note, and there are no new ones: only that vendor makes them.
- Another tool of the same name upstream, such as a function \`shell\` next to the tool, is refused: they could not be told apart in an answer.`
