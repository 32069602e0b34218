package recording_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// agentLogs are small sessions as agents and their tools write them down, each one
// conversation whose calls are all answered.
var agentLogs = map[string]string{
	"codex": `{"timestamp":"2025-10-01T10:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/x","instructions":null}}
{"timestamp":"2025-10-01T10:00:00Z","type":"turn_context","payload":{"model":"gpt-5-codex"}}
{"timestamp":"2025-10-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}
{"timestamp":"2025-10-01T10:00:02Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"e"}}
{"timestamp":"2025-10-01T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"2025-10-01T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"pwd\"]}","call_id":"c2"}}
{"timestamp":"2025-10-01T10:00:03Z","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2025-10-01T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"a"}}
{"timestamp":"2025-10-01T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"b"}}
{"timestamp":"2025-10-01T10:00:06Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}}
`,
	"bare items": `{"id":"s","timestamp":"2025-06-01T10:00:00Z","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}
{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1","id":"x"}
{"type":"function_call_output","call_id":"c1","output":"{}"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}
`,
	"gemini session": `{"sessionId":"g","projectHash":"h","startTime":"2025-10-01T10:00:00Z","messages":[{"id":"1","timestamp":"2025-10-01T10:00:00Z","type":"user","content":"Go"},{"id":"2","timestamp":"2025-10-01T10:00:03Z","type":"gemini","content":"I look","model":"gemini-2.5-pro","thoughts":[{"subject":"s","description":"d"}],"tokens":{"input":10,"output":2,"cached":4,"thoughts":1,"tool":0,"total":13},"toolCalls":[{"id":"t1","name":"read_file","args":{"p":1},"result":[{"functionResponse":{"id":"t1","name":"read_file","response":{"output":"x"}}}],"status":"success","timestamp":"2025-10-01T10:00:05Z"}]},{"id":"3","type":"gemini","timestamp":"2025-10-01T10:00:07Z","content":"Done"}]}`,
	"pydantic": `[{"parts":[{"content":"Be short.","timestamp":"2026-01-01T00:00:00Z","part_kind":"system-prompt"},{"content":["Go",{"kind":"image-url","url":"u"}],"timestamp":"2026-01-01T00:00:00Z","part_kind":"user-prompt"}],"instructions":null,"kind":"request"},
{"parts":[{"content":"hm","signature":"s","part_kind":"thinking"},{"tool_name":"ls","args":"{\"a\":1}","tool_call_id":"c1","part_kind":"tool-call"},{"tool_name":"ls","args":{"b":2},"tool_call_id":"c2","part_kind":"tool-call"},{"tool_name":"web_search","args":{},"tool_call_id":"s1","part_kind":"builtin-tool-call"},{"tool_name":"web_search","content":[],"tool_call_id":"s1","part_kind":"builtin-tool-return"}],"usage":{"input_tokens":10,"cache_read_tokens":4,"output_tokens":2},"model_name":"m","timestamp":"2026-01-01T00:00:01Z","kind":"response"},
{"parts":[{"tool_name":"ls","content":{"x":1},"tool_call_id":"c1","part_kind":"tool-return","timestamp":"2026-01-01T00:00:02Z"},{"tool_name":"ls","content":"no b","tool_call_id":"c2","part_kind":"retry-prompt","timestamp":"2026-01-01T00:00:02Z"}],"kind":"request"},
{"parts":[{"content":"Done","part_kind":"text"}],"usage":{"request_tokens":1,"response_tokens":1},"model_name":"m","timestamp":"2026-01-01T00:00:03Z","kind":"response"}]`,
	"pydantic, wrapped": `{"run":1,"message_history":[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"Go"}]},{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"ls","args":null,"tool_call_id":"c1"}]},{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"ls","content":"x","tool_call_id":"c1"}]},{"kind":"response","parts":[{"part_kind":"text","content":"Done"}]}]}`,
	"openhands": `{"id":"1","timestamp":"2026-02-24T16:50:10","source":"user","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"Go"}]}}
{"id":"2","timestamp":"2026-02-24T16:50:11.04","source":"agent","kind":"ActionEvent","thought":[{"type":"text","text":"I look."}],"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}],"action":{"command":"ls","kind":"TerminalAction"},"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\":\"ls\"}","origin":"completion"},"llm_response_id":"r1"}
{"id":"3","timestamp":"2026-02-24T16:50:11.05","source":"agent","kind":"ActionEvent","thought":[],"action":{"path":"/x","kind":"FileEditorAction"},"tool_name":"file_editor","tool_call_id":"c2","llm_response_id":"r1"}
{"id":"4","timestamp":"2026-02-24T16:50:12","source":"environment","kind":"ObservationEvent","tool_name":"terminal","tool_call_id":"c1","observation":{"content":[{"type":"text","text":"a"}],"is_error":false,"kind":"TerminalObservation"},"action_id":"2"}
{"id":"5","timestamp":"2026-02-24T16:50:13","source":"agent","kind":"AgentErrorEvent","tool_name":"file_editor","tool_call_id":"c2","error":"no"}
{"id":"6","timestamp":"2026-02-24T16:50:13","source":"environment","kind":"ConversationStateUpdateEvent","key":"stats","value":{}}
{"id":"7","timestamp":"2026-02-24T16:50:14","source":"agent","kind":"MessageEvent","llm_message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}
`,
	"openhands 0": `{"instance_id":"i","history":[{"id":0,"timestamp":"2025-01-02T03:04:00.000001","source":"agent","message":"","action":"system","args":{"content":"s"}},{"id":1,"timestamp":"2025-01-02T03:04:01","source":"user","message":"Go","action":"message","args":{"content":"Go"}},{"id":2,"timestamp":"2025-01-02T03:04:02","source":"agent","message":"Running","action":"run","args":{"command":"ls"},"tool_call_metadata":{"function_name":"execute_bash","tool_call_id":"c1","model_response":{"id":"r1","model":"m","object":"chat.completion","choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"execute_bash","arguments":"{\"command\":\"ls\"}"}},{"id":"c2","type":"function","function":{"name":"execute_bash","arguments":"{}"}}]}}],"usage":{"prompt_tokens":10,"completion_tokens":2}},"total_calls_in_response":2}},{"id":3,"timestamp":"2025-01-02T03:04:03","source":"agent","message":"","cause":2,"observation":"run","content":"a","extras":{},"success":true,"tool_call_metadata":{"tool_call_id":"c1","model_response":{"id":"r1"}}},{"id":4,"timestamp":"2025-01-02T03:04:04","source":"agent","message":"Running","action":"run","args":{},"tool_call_metadata":{"tool_call_id":"c2","function_name":"execute_bash","model_response":{"id":"r1","model":"m","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"execute_bash","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"execute_bash","arguments":"{}"}}]}}]}}},{"id":5,"timestamp":"2025-01-02T03:04:05","source":"agent","message":"","cause":4,"observation":"run","content":"b","success":false,"tool_call_metadata":{"tool_call_id":"c2","model_response":{"id":"r1"}}},{"id":6,"timestamp":"2025-01-02T03:04:06","source":"environment","message":"","observation":"agent_state_changed","cause":-1,"content":""},{"id":7,"timestamp":"2025-01-02T03:04:06","source":"agent","message":"Done","action":"finish","args":{"final_thought":"Done"}}]}`,
	"openhands 0, actions alone": `[{"id":1,"timestamp":"2024-10-02T03:04:01","source":"user","message":"Go","action":"message","args":{"content":"Go"}},
{"id":5,"timestamp":"2024-10-02T03:04:01","source":"environment","message":"","cause":1,"observation":"null","content":"","extras":{}},
{"id":2,"timestamp":"2024-10-02T03:04:02","source":"agent","message":"Running","action":"run","args":{"command":"ls"}},
{"id":3,"timestamp":"2024-10-02T03:04:03","source":"agent","message":"","cause":2,"observation":"run","content":"a","extras":{}},
{"id":4,"timestamp":"2024-10-02T03:04:04","source":"agent","message":"Done","action":"finish","args":{}}]`,
	"langgraph state":         `{"messages":[{"content":"Go","additional_kwargs":{},"response_metadata":{},"type":"human","name":null,"id":"1"},{"content":"","additional_kwargs":{"tool_calls":[{"id":"c1","function":{"arguments":"{\"a\":1}","name":"ls"},"type":"function"}]},"response_metadata":{"token_usage":{"completion_tokens":2,"prompt_tokens":10},"model_name":"gpt-4o"},"type":"ai","name":null,"id":"2","example":false,"tool_calls":[{"name":"ls","args":{"a":1},"id":"c1","type":"tool_call"}],"invalid_tool_calls":[],"usage_metadata":{"input_tokens":10,"output_tokens":2,"total_tokens":12}},{"content":"x","additional_kwargs":{},"response_metadata":{},"type":"tool","name":"ls","id":"3","tool_call_id":"c1","artifact":null,"status":"success"},{"content":"Done","type":"ai","tool_calls":[],"id":"4"}]}`,
	"langchain messages":      `[{"type":"human","data":{"content":"Go","type":"human"}},{"type":"ai","data":{"content":"","type":"ai","tool_calls":[{"name":"ls","args":{"a":1},"id":"c1","type":"tool_call"}]}},{"type":"tool","data":{"content":"x","type":"tool","tool_call_id":"c1","status":"success"}},{"type":"ai","data":{"content":"Done","type":"ai"}}]`,
	"langchain dumps":         `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"Go","type":"human"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":[{"type":"tool_use","id":"c1","name":"ls","input":{"a":1}}],"type":"ai","tool_calls":[{"name":"ls","args":{"a":1},"id":"c1","type":"tool_call"}]}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"x","type":"tool","tool_call_id":"c1","status":"success"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"Done","type":"ai"}}]`,
	"autogen events":          `[{"source":"user","models_usage":null,"metadata":{},"content":"Go","type":"TextMessage"},{"source":"a","models_usage":{"prompt_tokens":10,"completion_tokens":2},"metadata":{},"content":[{"id":"c1","arguments":"{\"a\":1}","name":"ls"}],"type":"ToolCallRequestEvent"},{"source":"a","models_usage":null,"metadata":{},"content":[{"content":"x","name":"ls","call_id":"c1","is_error":false}],"type":"ToolCallExecutionEvent"},{"source":"a","content":"Done","type":"TextMessage","models_usage":{"prompt_tokens":1,"completion_tokens":1}}]`,
	"autogen state":           `{"type":"AssistantAgentState","llm_context":{"messages":[{"content":"Go","source":"user","type":"UserMessage"},{"content":[{"id":"c1","arguments":"{\"a\":1}","name":"ls"}],"thought":null,"source":"a","type":"AssistantMessage"},{"content":[{"content":"x","name":"ls","call_id":"c1","is_error":false}],"type":"FunctionExecutionResultMessage"},{"content":"Done","source":"a","type":"AssistantMessage"}]}}`,
	"strands messages":        `[{"message":{"role":"user","content":[{"text":"Go"}]},"message_id":0,"created_at":"2026-01-01T00:00:00"},{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"ls","input":{"a":1}}}]},"message_id":1},{"message":{"role":"user","content":[{"toolResult":{"toolUseId":"c1","status":"success","content":[{"text":"x"}]}}]},"message_id":2},{"message":{"role":"assistant","content":[{"text":"Done"}]},"message_id":3}]`,
	"langchain4j":             `[{"contents":[{"text":"Go","type":"TEXT"}],"type":"USER"},{"toolExecutionRequests":[{"id":"c1","name":"ls","arguments":"{\"a\":1}"}],"type":"AI"},{"text":"x","id":"c1","toolName":"ls","type":"TOOL_EXECUTION_RESULT"},{"text":"Done","type":"AI"}]`,
	"haystack":                `[{"role":"user","meta":{},"name":null,"content":[{"text":"Go"}]},{"role":"assistant","meta":{"model":"m"},"name":null,"content":[{"tool_call":{"tool_name":"ls","arguments":{"a":1},"id":"c1"}}]},{"role":"tool","meta":{},"content":[{"tool_call_result":{"result":"x","origin":{"tool_name":"ls","arguments":{"a":1},"id":"c1"},"error":false}}]},{"role":"assistant","meta":{},"content":[{"text":"Done"}]}]`,
	"semantic kernel":         `[{"Role":{"Label":"user"},"Items":[{"$type":"TextContent","Text":"Go"}]},{"Role":{"Label":"Assistant"},"Items":[{"$type":"FunctionCallContent","Id":"c1","PluginName":"p","FunctionName":"ls","Arguments":{"a":"1"}}]},{"Role":{"Label":"tool"},"Items":[{"$type":"FunctionResultContent","CallId":"c1","PluginName":"p","FunctionName":"ls","Result":"x"}]},{"Role":{"Label":"Assistant"},"Items":[{"$type":"TextContent","Text":"Done"}]}]`,
	"microsoft.extensions.ai": `[{"role":"user","contents":[{"$type":"text","text":"Go"}]},{"role":"assistant","contents":[{"$type":"functionCall","callId":"c1","name":"ls","arguments":{"a":1}}]},{"role":"tool","contents":[{"$type":"functionResult","callId":"c1","result":"x"}]},{"role":"assistant","contents":[{"$type":"text","text":"Done"}]}]`,
	"ai sdk in a page":        `[{"id":"1","role":"user","parts":[{"type":"text","text":"Go"}]},{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{"a":1},"output":"x"},{"type":"step-start"},{"type":"text","text":"Done","state":"done"}]}]`,
	"ai sdk 4 in a page":      `[{"id":"1","role":"user","content":"Go","parts":[{"type":"text","text":"Go"}]},{"id":"2","role":"assistant","content":"Done","parts":[{"type":"step-start"},{"type":"tool-invocation","toolInvocation":{"state":"result","step":0,"toolCallId":"c1","toolName":"ls","args":{"a":1},"result":"x"}},{"type":"step-start"},{"type":"text","text":"Done"}],"toolInvocations":[{"state":"result","step":0,"toolCallId":"c1","toolName":"ls","args":{"a":1},"result":"x"}]}]`,
	"llamaindex store":        `{"store":{"chat":[{"role":"user","additional_kwargs":{},"blocks":[{"block_type":"text","text":"Go"}]},{"role":"assistant","additional_kwargs":{"tool_calls":[{"id":"c1","function":{"arguments":"{\"a\":1}","name":"ls"},"type":"function"}]},"blocks":[]},{"role":"tool","additional_kwargs":{"name":"ls","tool_call_id":"c1"},"blocks":[{"block_type":"text","text":"x"}]},{"role":"assistant","additional_kwargs":{},"blocks":[{"block_type":"text","text":"Done"}]}]},"class_name":"SimpleChatStore"}`,
	"agno runs":               `{"session_id":"s","runs":[{"run_id":"r","messages":[{"role":"system","content":"s"},{"role":"user","content":"Go"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}],"metrics":{"input_tokens":10}},{"role":"tool","content":"x","tool_call_id":"c1","tool_name":"ls"},{"role":"assistant","content":"Done"}]}]}`,
	"ag-ui":                   `[{"id":"1","role":"user","content":"Go"},{"id":"2","role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"id":"3","role":"tool","toolCallId":"c1","content":"x"},{"id":"4","role":"assistant","content":"Done"}]`,
	"ag-ui state":             `{"threadId":"t","messages":[{"id":"1","role":"user","content":"Go"},{"id":"2","role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"id":"3","role":"tool","toolCallId":"c1","content":"x"},{"id":"4","role":"assistant","content":"Done"}]}`,
	"mastra":                  `{"messages":[{"id":"1","role":"user","content":{"format":2,"parts":[{"type":"text","text":"Go"}]},"createdAt":"2026-01-01T00:00:00Z"},{"id":"2","role":"assistant","content":{"format":2,"parts":[{"type":"step-start"},{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"ls","args":{"a":1},"result":{"x":1}}},{"type":"step-start"},{"type":"text","text":"Done"}]},"createdAt":"2026-01-01T00:00:01Z"}]}`,
	"smolagents":              `[{"task":"Go","task_images":null},{"step_number":1,"model_output":"I look","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":{"a":1}}}],"observations":"x","error":null},{"step_number":2,"model_output":"Done","observations":null}]`,
	"codex, printed": `{"type":"thread.started","thread_id":"0199"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"**Looking**"}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"bash -lc ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"bash -lc ls","aggregated_output":"x\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"Done"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20}}
`,
	"gemini, printed": `{"type":"init","timestamp":"2026-01-01T00:00:00.000Z","session_id":"s","model":"gemini-2.5-pro"}
{"type":"message","timestamp":"2026-01-01T00:00:00.100Z","role":"user","content":"Go"}
{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","role":"assistant","content":"I look","delta":true}
{"type":"tool_use","timestamp":"2026-01-01T00:00:01.500Z","tool_name":"read_file","tool_id":"c1","parameters":{"a":1}}
{"type":"tool_result","timestamp":"2026-01-01T00:00:02.000Z","tool_id":"c1","status":"success","output":"x"}
{"type":"message","timestamp":"2026-01-01T00:00:03.000Z","role":"assistant","content":"Do","delta":true}
{"type":"message","timestamp":"2026-01-01T00:00:03.100Z","role":"assistant","content":"ne","delta":true}
{"type":"result","timestamp":"2026-01-01T00:00:04.000Z","status":"success","stats":{"total_tokens":10,"input_tokens":8,"output_tokens":2,"tool_calls":1}}
`,
	"cursor, printed": `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/x","session_id":"s","model":"Claude 4 Sonnet","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go"}]},"session_id":"s"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I'll read"}]},"session_id":"s"}
{"type":"tool_call","subtype":"started","call_id":"toolu_1","tool_call":{"readToolCall":{"args":{"path":"README.md"}}},"session_id":"s"}
{"type":"tool_call","subtype":"completed","call_id":"toolu_1","tool_call":{"toolCallId":"toolu_1","readToolCall":{"args":{"path":"README.md"},"result":{"success":{"content":"x","isEmpty":false,"totalLines":1}}}},"session_id":"s"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done"}]},"session_id":"s"}
{"type":"result","subtype":"success","duration_ms":5234,"duration_api_ms":5234,"is_error":false,"result":"Done","session_id":"s"}
`,
	"droid, printed": `{"type":"system","subtype":"init","cwd":"/x","session_id":"s","tools":["Read","Execute"],"model":"m"}
{"type":"message","role":"user","id":"m1","text":"Go","timestamp":1764000000000,"session_id":"s"}
{"type":"message","role":"assistant","id":"m2","text":"I look","timestamp":1764000001000,"session_id":"s"}
{"type":"tool_call","id":"c1","messageId":"m2","toolId":"Read","toolName":"Read","parameters":{"a":1},"timestamp":1764000002000,"session_id":"s"}
{"type":"tool_call","id":"c2","messageId":"m2","toolId":"Execute","toolName":"Execute","parameters":{},"timestamp":1764000002000,"session_id":"s"}
{"type":"tool_result","id":"c1","messageId":"m3","toolId":"Read","isError":false,"value":"x","timestamp":1764000003000,"session_id":"s"}
{"type":"tool_result","id":"c2","messageId":"m3","toolId":"Execute","isError":true,"value":"no","timestamp":1764000003000,"session_id":"s"}
{"type":"message","role":"assistant","id":"m4","text":"Done","timestamp":1764000004000,"session_id":"s"}
{"type":"completion","finalText":"Done","numTurns":2,"session_id":"s"}
`,
	"messages within lines": `{"id":0,"message":{"role":"user","content":"Go"}}
{"id":1,"message":{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"a":1}}]}}
{"id":2,"message":{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}}]}}
{"id":3,"message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}
`,
	"opencode, printed": `{"type":"step_start","timestamp":1764000000000,"sessionID":"ses","part":{"id":"p1","sessionID":"ses","messageID":"msg1","type":"step-start"}}
{"type":"text","timestamp":1764000000500,"sessionID":"ses","part":{"id":"p2","messageID":"msg1","type":"text","text":"I look","time":{"start":1764000000100,"end":1764000000500}}}
{"type":"tool_use","timestamp":1764000001000,"sessionID":"ses","part":{"id":"p3","messageID":"msg1","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"x","title":"t","metadata":{},"time":{"start":1764000000600,"end":1764000000900}}}}
{"type":"step_finish","timestamp":1764000001100,"sessionID":"ses","part":{"id":"p4","messageID":"msg1","type":"step-finish","reason":"tool-calls","tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0}}
{"type":"step_start","timestamp":1764000001200,"sessionID":"ses","part":{"id":"p5","messageID":"msg2","type":"step-start"}}
{"type":"text","timestamp":1764000002000,"sessionID":"ses","part":{"id":"p6","messageID":"msg2","type":"text","text":"Done"}}
{"type":"step_finish","timestamp":1764000002100,"sessionID":"ses","part":{"id":"p7","messageID":"msg2","type":"step-finish","reason":"stop","tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}}
`,
	"openai's agents, a run in javascript": `{"$schemaVersion":"1.0","originalInput":"Go","modelResponses":[{"output":[]}],"generatedItems":[{"type":"tool_call_item","rawItem":{"type":"function_call","callId":"c1","name":"ls","arguments":"{\"a\":1}","status":"completed"}},{"type":"tool_call_output_item","output":"x","rawItem":{"type":"function_call_result","callId":"c1","name":"ls","status":"completed","output":{"type":"text","text":"x"}}},{"type":"message_output_item","rawItem":{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done"}]}}]}`,
	"managed agents": `{"id":"e1","type":"user.message","content":[{"type":"text","text":"Go"}],"processed_at":"2026-05-01T10:00:00Z"}
{"id":"e2","type":"span.model_request_start","processed_at":"2026-05-01T10:00:00Z"}
{"id":"e3","type":"agent.tool_use","name":"ls","input":{"a":1},"processed_at":"2026-05-01T10:00:01Z"}
{"id":"e4","type":"agent.mcp_tool_use","mcp_server_name":"s","name":"find","input":{},"processed_at":"2026-05-01T10:00:02Z"}
{"id":"e5","type":"agent.custom_tool_use","name":"ask","input":{"b":2},"processed_at":"2026-05-01T10:00:03Z"}
{"id":"e6","type":"agent.tool_result","tool_use_id":"e3","content":[{"type":"text","text":"x"}],"is_error":false,"processed_at":"2026-05-01T10:00:04Z"}
{"id":"e7","type":"agent.mcp_tool_result","mcp_tool_use_id":"e4","content":[{"type":"text","text":"y"}],"processed_at":"2026-05-01T10:00:04Z"}
{"id":"e8","type":"user.custom_tool_result","custom_tool_use_id":"e5","content":[{"type":"text","text":"no"}],"is_error":true,"processed_at":null}
{"id":"e8","type":"user.custom_tool_result","custom_tool_use_id":"e5","content":[{"type":"text","text":"no"}],"is_error":true,"processed_at":"2026-05-01T10:00:05Z"}
{"id":"e9","type":"agent.message","content":[{"type":"text","text":"Done"}],"processed_at":"2026-05-01T10:00:06Z"}
{"id":"e10","type":"session.status_idle","stop_reason":{"type":"end_turn"},"processed_at":"2026-05-01T10:00:06Z"}
`,
	"managed agents, a page": `{"data":[{"id":"e1","type":"user.message","content":[{"type":"text","text":"Go"}]},{"id":"e3","type":"agent.tool_use","name":"ls","input":{"a":1}},{"id":"e6","type":"agent.tool_result","tool_use_id":"e3","content":"x"},{"id":"e9","type":"agent.message","content":[{"type":"text","text":"Done"}]},{"id":"e10","type":"session.status_idle"}],"next_page":null}`,
	"managed agents, by method": `["sessions.create",{"id":"s"}]
["events.send",["s",{"events":[{"type":"user.message","content":[{"type":"text","text":"Go"}]}]}]]
["events.stream",{"id":"e1","type":"user.message","content":[{"type":"text","text":"Go"}]}]
["events.stream",{"id":"e3","type":"agent.tool_use","name":"ls","input":{"a":1}}]
["events.stream",{"id":"e6","type":"agent.tool_result","tool_use_id":"e3","content":"x"}]
["events.stream",{"id":"e9","type":"agent.message","content":[{"type":"text","text":"Done"}]}]
`,
	"antigravity": `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-05-01T10:00:00Z","content":"<USER_REQUEST>\nGo\n</USER_REQUEST>"}
{"step_index":1,"source":"SYSTEM","type":"CONVERSATION_HISTORY","status":"DONE","created_at":"2026-05-01T10:00:00Z"}
{"step_index":2,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","created_at":"2026-05-01T10:00:01Z","thinking":"hm","tool_calls":[{"name":"run_command","args":{"CommandLine":"ls"}},{"name":"view_file","args":{"a":1}}]}
{"step_index":3,"source":"SYSTEM","type":"EPHEMERAL_MESSAGE","status":"DONE","created_at":"2026-05-01T10:00:01Z","content":"Be short."}
{"step_index":4,"source":"MODEL","type":"VIEW_FILE","status":"DONE","created_at":"2026-05-01T10:00:02Z","content":"x"}
{"step_index":5,"source":"MODEL","type":"GENERIC","status":"ERROR","created_at":"2026-05-01T10:00:03Z","content":"no"}
{"step_index":6,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","created_at":"2026-05-01T10:00:04Z","content":"Done"}
`,
	"codex, its server": `{"jsonrpc":"2.0","method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}
{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"i0","content":[{"type":"text","text":"Go"}]}}}
{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"i0","content":[{"type":"text","text":"Go"}]}}}
{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"reasoning","id":"i1","summary":["hm"],"content":[]}}}
{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c1","command":"ls","status":"inProgress","aggregatedOutput":null}}}
{"method":"item/commandExecution/outputDelta","params":{"threadId":"t","itemId":"c1","delta":"x"}}
{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c1","command":"ls","status":"completed","aggregatedOutput":"x","exitCode":0}}}
{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"i2","delta":"Done"}}
{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"i2","text":"Done"}}}
{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}
`,
	"openai's agents, other tools in javascript": `{"$schemaVersion":"1.8","originalInput":[{"type":"message","role":"user","content":"Go"}],"modelResponses":[{"output":[]}],"generatedItems":[{"type":"tool_call_item","rawItem":{"type":"apply_patch_call","callId":"c1","operation":{"path":"p","type":"delete_file"},"status":"completed"}},{"type":"tool_call_output_item","rawItem":{"type":"apply_patch_call_output","callId":"c1","status":"completed","output":"x"}},{"type":"message_output_item","rawItem":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}}]}`,
	"tanstack's page": `{"prompt":"Go","messages":[{"id":"m1","role":"user","parts":[{"type":"text","content":"Go"}],"createdAt":"2026-03-01T10:00:00Z"},{"id":"m2","role":"assistant","parts":[{"type":"text","content":"I look."},{"type":"tool-call","id":"c1","name":"ls","arguments":"{\"a\":1}","state":"input-complete","output":{"f":"x"}},{"type":"tool-call","id":"c2","name":"ls","arguments":"","state":"input-complete","output":[]},{"type":"tool-result","toolCallId":"c1","content":"{\"f\":\"x\"}","state":"complete"},{"type":"tool-result","toolCallId":"c2","content":"[]","state":"complete"},{"type":"text","content":"Done"}],"createdAt":"2026-03-01T10:00:01Z"}]}`,
	"a call within a message of responses": `{"request":{"model":"gpt","input":[{"role":"user","content":"Go"}]},"response":{"id":"r1","object":"response","status":"completed","model":"m","output":[{"id":"m1","type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."},{"type":"function_call","id":"f1","call_id":"c1","name":"ls","arguments":"{\"a\":1}"}]}]}}
{"request":{"model":"gpt","input":[{"role":"user","content":"Go"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c1","output":"x"}]},"response":{"id":"r2","object":"response","status":"completed","model":"m","output":[{"id":"m2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}]}}
`,
	"copilot's parts of an answer": `{"request":{"model":"gpt","messages":[{"role":"user","content":"Go"}]},"response":{"id":"r1","model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look."}},{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}}
{"request":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"response":{"id":"r2","model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Done"}}]}}
`,
	"any-agent": `{"spans":[{"name":"call_llm m","start_time":1758026594000000000,"end_time":1758026595000000000,"status":{"status_code":"ok"},"attributes":{"gen_ai.operation.name":"call_llm","gen_ai.request.model":"m","gen_ai.input.messages":"[{\"role\":\"system\",\"content\":\"Be short.\"},{\"role\":\"user\",\"content\":\"Go\"}]","gen_ai.output":"[{\"tool.name\":\"ls\",\"tool.args\":\"{\\\"a\\\":1}\"},{\"tool.name\":\"find\",\"tool.args\":{}}]","gen_ai.output.type":"json"}},{"name":"execute_tool find","start_time":1758026595100000000,"status":{"status_code":"error"},"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"find","gen_ai.tool.args":"{}","gen_ai.output":"no"}},{"name":"execute_tool ls","start_time":1758026595200000000,"status":{"status_code":"ok"},"attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"ls","gen_ai.tool.call.id":"k","gen_ai.output":"x"}},{"name":"call_llm m","start_time":1758026596000000000,"status":{"status_code":"ok"},"attributes":{"gen_ai.operation.name":"call_llm","gen_ai.output":"Done","gen_ai.output.type":"text"}},{"name":"invoke_agent","start_time":1758026594000000000,"status":{"status_code":"unset"},"attributes":{"gen_ai.operation.name":"invoke_agent"}}],"final_output":"Done"}`,
	"litellm": `{"id":"1","call_type":"completion","model":"gpt","messages":[{"role":"user","content":"Go"}],"response":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2}},"startTime":1}
{"id":"2","call_type":"completion","model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],"response":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]},"startTime":2}
`,
	"weave": `{"id":"1","op_name":"openai.chat.completions.create","inputs":{"model":"gpt","messages":[{"role":"user","content":"Go"}]},"output":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2}},"started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z"}
{"id":"2","op_name":"openai.chat.completions.create","inputs":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"output":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]},"started_at":"2026-01-01T00:00:02Z","ended_at":"2026-01-01T00:00:03Z"}
`,
	"mlflow": `{"info":{"trace_id":"t"},"data":{"spans":[{"name":"Completions","span_id":"1","start_time_unix_nano":1767225600000000000,"end_time_unix_nano":1767225601000000000,"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\",\"content\":\"Go\"}]}","mlflow.spanOutputs":"{\"id\":\"r1\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}"}},{"name":"Completions","span_id":"2","start_time_unix_nano":1767225602000000000,"end_time_unix_nano":1767225603000000000,"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\",\"content\":\"Go\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\\\"a\\\":1}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"x\"}]}","mlflow.spanOutputs":"{\"id\":\"r2\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Done\"}}]}"}}]}}
`,
	"datadog": `[{"name":"OpenAI.createChatCompletion","meta":{"span.kind":"llm","model_name":"gpt","input":{"messages":[{"role":"user","content":"Go"}]},"output":{"messages":[{"role":"assistant","content":"","tool_calls":[{"name":"ls","arguments":{"a":1},"tool_id":"c1","type":"function"}]}]}},"metrics":{"input_tokens":10,"output_tokens":2},"start_ns":1767225600000000000,"duration":1000000},{"name":"x","meta":{"span.kind":"llm","model_name":"gpt","input":{"messages":[{"role":"user","content":"Go"},{"role":"assistant","content":"","tool_calls":[{"name":"ls","arguments":{"a":1},"tool_id":"c1","type":"function"}]},{"role":"tool","content":"x","tool_id":"c1"}]},"output":{"messages":[{"role":"assistant","content":"Done"}]}},"start_ns":1767225603000000000,"duration":1000000}]
`,
	"ai sdk's result": `{"text":"Done","steps":[{"content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"a":1}},{"type":"tool-result","toolCallId":"c1","toolName":"ls","input":{"a":1},"output":"x"}],"finishReason":"tool-calls","usage":{"inputTokens":10,"outputTokens":2},"response":{"id":"r1","modelId":"gpt-4o","messages":[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"a":1}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}}]}]}},{"content":[{"type":"text","text":"Done"}],"finishReason":"stop","usage":{"inputTokens":10,"outputTokens":2},"response":{"id":"r2","modelId":"gpt-4o","messages":[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"a":1}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}}]},{"role":"assistant","content":[{"type":"text","text":"Done"}]}]}}]}
`,
	"bodies as texts": `{"request":"{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\",\"content\":\"Go\"}]}","response":"{\"id\":\"r1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\\\"a\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}"}
{"request":"{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\",\"content\":\"Go\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\\\"a\\\":1}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"x\"}]}","response":"{\"id\":\"r2\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Done\"},\"finish_reason\":\"stop\"}]}"}
`,
	"bodies by other names": `{"requestBody":{"model":"gpt","messages":[{"role":"user","content":"Go"}]},"responseBody":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}}
{"function_kwargs":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"request_response":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]}}
`,
	"a list of bodies": `{"data":[{"request_body":{"model":"gpt","messages":[{"role":"user","content":"Go"}]},"response_body":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]},"response_status":200},{"request_body":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"response_body":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]},"response_status":200}]}`,
	"messages and an answer": `{"id":"0","model":"gpt","input":[{"role":"user","content":"Go"}],"output":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]}}
{"id":"1","model":"gpt","input":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],"output":{"role":"assistant","content":"Done"}}
`,
	"opik": `{"id":"s0","trace_id":"t","type":"llm","model":"gpt","start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:01Z","input":{"messages":[{"role":"user","content":"Go"}]},"output":{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]},"usage":{"prompt_tokens":3,"completion_tokens":2}}
{"id":"s1","trace_id":"t","type":"llm","model":"gpt","start_time":"2026-01-01T00:00:02Z","end_time":"2026-01-01T00:00:03Z","input":{"messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"output":{"choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]},"usage":{"prompt_tokens":3,"completion_tokens":2}}
`,
	"langwatch":                  `{"trace_id":"t","spans":[{"span_id":"s0","trace_id":"t","type":"llm","model":"gpt","timestamps":{"started_at":1767225600000,"finished_at":1767225601000},"input":{"type":"chat_messages","value":[{"role":"user","content":"Go"}]},"output":{"type":"chat_messages","value":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]}]}},{"span_id":"s1","trace_id":"t","type":"llm","model":"gpt","timestamps":{"started_at":1767225602000,"finished_at":1767225603000},"input":{"type":"chat_messages","value":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"output":{"type":"chat_messages","value":[{"role":"assistant","content":"Done"}]}}]}`,
	"openai's agents, a run":     `{"$schemaVersion":"1.13","original_input":"Go","model_responses":[{"output":[{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"a\":1}"}]}],"generated_items":[{"type":"tool_call_item","raw_item":{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"a\":1}"}},{"type":"tool_approval_item","raw_item":{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"a\":1}"}},{"type":"tool_call_output_item","raw_item":{"type":"function_call_output","call_id":"c1","output":"x"}},{"type":"message_output_item","raw_item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}}]}`,
	"ai sdk, streamed to a page": `[{"type":"start"},{"type":"start-step"},{"type":"reasoning-start","id":"r"},{"type":"reasoning-delta","id":"r","delta":"Hm"},{"type":"reasoning-end","id":"r"},{"type":"tool-input-start","toolCallId":"c1","toolName":"ls"},{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"a\":"},{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"1}"},{"type":"tool-input-available","toolCallId":"c1","toolName":"ls","input":{"a":1}},{"type":"tool-input-start","toolCallId":"s1","toolName":"web_search","providerExecuted":true},{"type":"tool-input-available","toolCallId":"s1","toolName":"web_search","input":{},"providerExecuted":true},{"type":"tool-output-available","toolCallId":"s1","output":[],"providerExecuted":true},{"type":"tool-output-available","toolCallId":"c1","output":"x"},{"type":"finish-step"},{"type":"start-step"},{"type":"text-start","id":"0"},{"type":"text-delta","id":"0","delta":"Do"},{"type":"text-delta","id":"0","delta":"ne"},{"type":"text-end","id":"0"},{"type":"finish-step"},{"type":"finish"}]`,
	"ai sdk, its stream": `data: {"type":"start"}

data: {"type":"start-step"}

data: {"type":"reasoning-start","id":"r"}

data: {"type":"reasoning-delta","id":"r","delta":"Hm"}

data: {"type":"reasoning-end","id":"r"}

data: {"type":"tool-input-start","toolCallId":"c1","toolName":"ls"}

data: {"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"a\":"}

data: {"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"1}"}

data: {"type":"tool-input-available","toolCallId":"c1","toolName":"ls","input":{"a":1}}

data: {"type":"tool-input-start","toolCallId":"s1","toolName":"web_search","providerExecuted":true}

data: {"type":"tool-input-available","toolCallId":"s1","toolName":"web_search","input":{},"providerExecuted":true}

data: {"type":"tool-output-available","toolCallId":"s1","output":[],"providerExecuted":true}

data: {"type":"tool-output-available","toolCallId":"c1","output":"x"}

data: {"type":"finish-step"}

data: {"type":"start-step"}

data: {"type":"text-start","id":"0"}

data: {"type":"text-delta","id":"0","delta":"Do"}

data: {"type":"text-delta","id":"0","delta":"ne"}

data: {"type":"text-end","id":"0"}

data: {"type":"finish-step"}

data: {"type":"finish"}

data: [DONE]

`,
	"ai sdk, input in pieces alone": `{"type":"start"}
{"type":"start-step"}
{"type":"reasoning-start","id":"r"}
{"type":"reasoning-delta","id":"r","delta":"Hm"}
{"type":"reasoning-end","id":"r"}
{"type":"tool-input-start","toolCallId":"c1","toolName":"ls"}
{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"a\":"}
{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"1}"}
{"type":"tool-output-available","toolCallId":"c1","output":"x"}
{"type":"finish-step"}
{"type":"start-step"}
{"type":"text-start","id":"0"}
{"type":"text-delta","id":"0","delta":"Do"}
{"type":"text-delta","id":"0","delta":"ne"}
{"type":"text-end","id":"0"}
{"type":"finish-step"}
{"type":"finish"}
`,
	"ag-ui, its stream": `{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":1767225600000}
{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"ls"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"a\":"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"1}"}
{"type":"TOOL_CALL_END","toolCallId":"c1"}
{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c1","content":"x"}
{"type":"TEXT_MESSAGE_START","messageId":"n","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"n","delta":"Done"}
{"type":"TEXT_MESSAGE_END","messageId":"n"}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":"Go"}]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`,
	"ag-ui, in chunks": `{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":1767225600000}
{"type":"TOOL_CALL_CHUNK","toolCallId":"c1","toolCallName":"ls","delta":"{\"a\":"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"c1","delta":"1}"}
{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c1","content":"x"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","role":"assistant","delta":"Do"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","delta":"ne"}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":"Go"}]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`,
	"xai's library": `{"version":1,"interactions":[{"collections_method":{"method":"create"}},{"request_sample":{"json":{"model":"grok","messages":[{"role":"ROLE_USER","content":[{"text":"Go"}]}]}},"response_sample":{"json":{"id":"1","model":"grok","outputs":[{"message":{"role":"ROLE_ASSISTANT","tool_calls":[{"id":"w","type":"TOOL_CALL_TYPE_WEB_SEARCH_TOOL","function":{"name":"web_search","arguments":"{}"}},{"id":"c1","type":"TOOL_CALL_TYPE_CLIENT_SIDE_TOOL","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"REASON_TOOL_CALLS"},{"index":1,"message":{"role":"ROLE_TOOL","content":"found"}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"cached_prompt_text_tokens":4}}}},{"request_stream":{"json":{"model":"grok","messages":[{"role":"ROLE_USER","content":[{"text":"Go"}]},{"role":"ROLE_ASSISTANT","content":[{"text":""}],"tool_calls":[{"id":"c1","type":"TOOL_CALL_TYPE_CLIENT_SIDE_TOOL","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"ROLE_TOOL","content":[{"text":"x"}],"tool_call_id":"c1"}]}},"response_stream":{"chunks_json":[{"chunk":{"id":"2","model":"grok","outputs":[{"delta":{"role":"ROLE_ASSISTANT","content":"Do"}}]}},{"chunk":{"id":"2","model":"grok","outputs":[{"delta":{"content":"ne"},"finish_reason":"REASON_STOP"}],"usage":{"prompt_tokens":12,"completion_tokens":2}}}]}}]}`,
	"inputs and outputs": `{"input":{"model":"gpt","messages":[{"role":"user","content":"Go"}]},"output":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2}}}
{"input":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]},"output":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]}}
`,
	"gemini checkpoint":      `[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]},{"role":"model","parts":[{"text":"Done"}]}]`,
	"loglines":               `{"loglines":[{"type":"user","timestamp":"2025-10-01T10:00:00Z","message":{"role":"user","content":"hi"},"uuid":"u1","sessionId":"s"},{"type":"assistant","timestamp":"2025-10-01T10:00:02Z","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c","name":"Read","input":{}}]}},{"type":"user","sessionId":"s","timestamp":"2025-10-01T10:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}}]}`,
	"atif":                   `{"schema_version":"ATIF-v1.6","session_id":"a","agent":{"name":"t","version":"1","model_name":"m"},"steps":[{"step_id":1,"source":"user","message":"Go","timestamp":"2025-10-01T10:00:00Z"},{"step_id":2,"source":"agent","message":"look","reasoning_content":"r","tool_calls":[{"tool_call_id":"c1","function_name":"ls","arguments":{"a":1}},{"tool_call_id":"c2","function_name":"ls","arguments":{}}],"observation":{"results":[{"source_call_id":"c1","content":"x"},{"source_call_id":"c2","content":[{"type":"text","text":"y"}]}]},"metrics":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":3}},{"step_id":3,"source":"agent","message":"Done"}],"final_metrics":{}}`,
	"otlp":                   `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"chat m","startTimeUnixNano":"2000000000","endTimeUnixNano":"3000000000","attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Go\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"id\": \"c1\", \"name\": \"ls\", \"arguments\": {\"a\": 1}}], \"finish_reason\": \"tool_call\"}, {\"role\": \"tool\", \"parts\": [{\"type\": \"tool_call_response\", \"id\": \"c1\", \"response\": \"x\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Done\"}]}]"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}}]},{"name":"execute_tool","attributes":[]},{"name":"chat m","startTimeUnixNano":"1000000000","endTimeUnixNano":"1500000000","attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Go\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"id\": \"c1\", \"name\": \"ls\", \"arguments\": {\"a\": 1}}], \"finish_reason\": \"tool_call\"}]"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.tool.definitions","value":{"stringValue":"[{\"type\": \"function\", \"name\": \"ls\", \"description\": \"d\", \"parameters\": {\"type\": \"object\"}}]"}}]}]}]}]}`,
	"recordings with chunks": `{"meta":{"name":"x"},"recordings":[{"hash":"h","request":{"url":"https://api.openai.com/v1/chat/completions","method":"POST","body":{"model":"gpt","messages":[{"role":"user","content":"Go"}],"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]}},"response":{"status":200,"headers":{},"chunks":["data: {\"id\": \"r1\", \"object\": \"chat.completion.chun","k\", \"choices\": [{\"index\": 0, \"delta\": {\"tool_calls\": [{\"index\": 0, \"id\": \"c1\", \"type\": \"function\", \"function\": {\"name\": \"ls\", \"arguments\": \"{}\"}}]}, \"finish_reason\": null}]}\n\ndata: {\"id\": \"r1\", \"object\": \"chat.completion.chunk\", \"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"tool_calls\"}]}\n\ndata: [DONE]\n\n"],"chunkTimings":[1,2],"isStreaming":true}},{"hash":"h","request":{"url":"https://api.openai.com/v1/chat/completions","method":"POST","body":{"model":"gpt","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}},"response":{"status":200,"headers":{},"body":{"id":"r2","object":"chat.completion","model":"gpt","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]}}}]}`,
	"marked base64":          `[{"request":{"url":"https://api.openai.com/v1/chat/completions","method":"POST","body":"base64:eyJtb2RlbCI6ICJncHQiLCAibWVzc2FnZXMiOiBbeyJyb2xlIjogInVzZXIiLCAiY29udGVudCI6ICJHbyJ9XSwgInRvb2xzIjogW3sidHlwZSI6ICJmdW5jdGlvbiIsICJmdW5jdGlvbiI6IHsibmFtZSI6ICJscyIsICJwYXJhbWV0ZXJzIjogeyJ0eXBlIjogIm9iamVjdCJ9fX1dfQ=="},"response":{"status":200,"headers":{},"body":"base64:eyJpZCI6ICJyMSIsICJvYmplY3QiOiAiY2hhdC5jb21wbGV0aW9uIiwgIm1vZGVsIjogImdwdCIsICJjaG9pY2VzIjogW3siaW5kZXgiOiAwLCAibWVzc2FnZSI6IHsicm9sZSI6ICJhc3Npc3RhbnQiLCAidG9vbF9jYWxscyI6IFt7ImlkIjogImMxIiwgInR5cGUiOiAiZnVuY3Rpb24iLCAiZnVuY3Rpb24iOiB7Im5hbWUiOiAibHMiLCAiYXJndW1lbnRzIjogInt9In19XX0sICJmaW5pc2hfcmVhc29uIjogInRvb2xfY2FsbHMifV19"}},{"request":{"url":"https://api.openai.com/v1/chat/completions","method":"POST","body":"base64:eyJtb2RlbCI6ICJncHQiLCAibWVzc2FnZXMiOiBbeyJyb2xlIjogInVzZXIiLCAiY29udGVudCI6ICJHbyJ9LCB7InJvbGUiOiAiYXNzaXN0YW50IiwgImNvbnRlbnQiOiBudWxsLCAidG9vbF9jYWxscyI6IFt7ImlkIjogImMxIiwgInR5cGUiOiAiZnVuY3Rpb24iLCAiZnVuY3Rpb24iOiB7Im5hbWUiOiAibHMiLCAiYXJndW1lbnRzIjogInt9In19XX0sIHsicm9sZSI6ICJ0b29sIiwgInRvb2xfY2FsbF9pZCI6ICJjMSIsICJjb250ZW50IjogIngifV19"},"response":{"status":200,"headers":{},"body":"base64:eyJpZCI6ICJyMiIsICJvYmplY3QiOiAiY2hhdC5jb21wbGV0aW9uIiwgIm1vZGVsIjogImdwdCIsICJjaG9pY2VzIjogW3siaW5kZXgiOiAwLCAibWVzc2FnZSI6IHsicm9sZSI6ICJhc3Npc3RhbnQiLCAiY29udGVudCI6ICJEb25lIn0sICJmaW5pc2hfcmVhc29uIjogInN0b3AifV19"}}]`,
	"histories in yaml": `models:
  - claude-sonnet-4.5
conversations:
  - messages:
      - role: system
        content: ${system}
      - role: user
        content: "Edit"
      - role: assistant
        tool_calls:
          - id: toolcall_0
            type: function
            function:
              name: report_intent
              arguments: '{"intent":"Editing file"}'
      - role: assistant
        tool_calls:
          - id: toolcall_1
            type: function
            function:
              name: edit
              arguments: '{"path":"a"}'
  - messages:
      - role: system
        content: ${system}
      - role: user
        content: "Edit"
      - role: assistant
        tool_calls:
          - id: toolcall_0
            type: function
            function:
              name: report_intent
              arguments: '{"intent":"Editing file"}'
          - id: toolcall_1
            type: function
            function:
              name: edit
              arguments: '{"path":"a"}'
      - role: tool
        tool_call_id: toolcall_0
        content: Tool
      - role: tool
        tool_call_id: toolcall_1
        content: File
      - role: assistant
        content: Done
`,
	"contents in yaml": `- author: user
  role: user
  parts:
    - text: Go
- author: a
  role: model
  parts:
    - function_call: {name: ls, args: {p: 1}}
- author: a
  role: user
  parts:
    - function_response: {name: ls, response: {result: x}}
- author: a
  role: model
  parts:
    - text: Done
`,
	"messages of an agent in yaml": `messages:
- type: system
  subtype: init
- message: {role: assistant, id: msg_1, model: m, content: [{type: tool_use, id: c1, name: Read, input: {p: 1}}], stop_reason: tool_use}
  type: assistant
  session_id: s
- message: {role: user, content: [{type: tool_result, tool_use_id: c1, content: x}]}
  type: user
  session_id: s
- message: {role: assistant, id: msg_2, model: m, content: [{type: text, text: Done}], stop_reason: end_turn}
  type: assistant
  session_id: s
- type: result
`,
	"qwen session": `{"uuid":"1","sessionId":"s","timestamp":"2026-11-23T04:24:06.307Z","type":"user","message":{"role":"user","parts":[{"text":"Go."}]}}
{"uuid":"2","sessionId":"s","timestamp":"2026-11-23T04:24:06.900Z","type":"system","subtype":"ui_telemetry","systemPayload":{}}
{"uuid":"3","sessionId":"s","timestamp":"2026-11-23T04:24:08.378Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{"p":1}}},{"functionCall":{"id":"b","name":"read","args":{"p":2}}}]}}
{"uuid":"4","sessionId":"s","timestamp":"2026-11-23T04:24:08.523Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"a","name":"read","response":{"output":"x"}}}]},"toolCallResult":{}}
{"uuid":"5","sessionId":"s","timestamp":"2026-11-23T04:24:08.543Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"b","name":"read","response":{"output":"y"}}}]},"toolCallResult":{}}
{"uuid":"6","sessionId":"s","timestamp":"2026-11-23T04:24:08.612Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"Done."}]}}
`,
	"ai sdk": `{"messages":[{"role":"user","content":"Go"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"p":1}},{"type":"tool-call","toolCallId":"c2","toolName":"ls","args":{"p":2}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}},{"type":"tool-result","toolCallId":"c2","toolName":"ls","result":"y"}]},{"role":"assistant","content":"Done"}]}`,
	"results as the user's messages": `{"type":"session_start","id":"s","version":"0.81.0"}
{"type":"message","id":"1","timestamp":"2025-12-26T23:50:00.000Z","message":{"role":"user","content":[{"type":"text","text":"Go"}]}}
{"type":"message","id":"2","timestamp":"2025-12-26T23:50:01.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"p":1}}]}}
{"type":"message","id":"3","timestamp":"2025-12-26T23:50:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}}
{"type":"message","id":"4","timestamp":"2025-12-26T23:50:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}
`,
	"goose session": `{"working_dir":"/x","description":"d","message_count":4}
{"role":"user","created":1749000000,"content":[{"type":"text","text":"Go"}]}
{"role":"assistant","created":1749000002,"content":[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"ls","arguments":{"p":1}}}},{"type":"toolRequest","id":"c2","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}}}]}
{"role":"user","created":1749000003,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"x"}]}},{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"no"}}]}
{"role":"assistant","created":1749000004,"content":[{"type":"text","text":"Done"}]}
`,
	"opencode session": `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m1","role":"user","time":{"created":1749000000000}},"parts":[{"type":"text","text":"Go"}]},{"info":{"id":"m2","role":"assistant","modelID":"m","time":{"created":1749000001000}},"parts":[{"type":"step-start"},{"type":"text","text":"I look"},{"type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{"p":1},"output":"x","time":{"end":1749000003000}}},{"type":"tool","callID":"c2","tool":"ls","state":{"status":"error","input":{},"error":"no"}},{"type":"step-finish","tokens":{"input":1,"output":2}},{"type":"step-start"},{"type":"text","text":"Done"}]}]}`,
	"copilot events": `{"type":"session.start","data":{"sessionId":"s"},"id":"1","timestamp":"2026-01-01T00:00:00Z"}
{"type":"user.message","data":{"content":"Go"},"id":"2","timestamp":"2026-01-01T00:00:01Z"}
{"type":"assistant.message","data":{"messageId":"m1","content":"I look","toolRequests":[{"toolCallId":"c1","name":"ls","arguments":{"p":1},"type":"function"},{"toolCallId":"c2","name":"ls","arguments":{}}]},"id":"4","timestamp":"2026-01-01T00:00:03Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"x"}},"id":"6","timestamp":"2026-01-01T00:00:04Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no"}},"id":"7","timestamp":"2026-01-01T00:00:05Z"}
{"type":"assistant.message","data":{"messageId":"m2","content":"Done","toolRequests":[]},"id":"8","timestamp":"2026-01-01T00:00:06Z"}
`,
	"grok history": `{"type":"system","content":"You help."}
{"type":"user","content":[{"type":"text","text":"Go"}]}
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"r"}]}
{"type":"assistant","content":"I look","tool_calls":[{"id":"c1","name":"ls","arguments":"{\"p\":1}"}],"model_id":"m"}
{"type":"tool_result","tool_call_id":"c1","content":"x"}
{"type":"assistant","content":"Done","model_id":"m"}
`,
	"docker session":   `{"id":"x","title":"t","messages":[{"message":{"agentName":"","message":{"role":"user","content":"Go"}}},{"message":{"agentName":"root","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}}},{"message":{"agentName":"root","message":{"role":"tool","tool_call_id":"c1","content":"x"}}},{"message":{"agentName":"root","message":{"role":"assistant","content":"Done"}}}]}`,
	"continue session": `{"sessionId":"s","title":"t","history":[{"message":{"role":"user","content":"Go"},"contextItems":[]},{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},"toolCallStates":[{"toolCallId":"c1","status":"done","output":[{"name":"l","description":"","content":"x"}]},{"toolCallId":"c2","status":"errored","output":[{"content":"no"}]}]},{"message":{"role":"tool","content":"no","toolCallId":"c2"}},{"message":{"role":"assistant","content":"Done"}}]}`,
	"kimi's wire": `{"type":"metadata","protocol_version":"1.5"}
{"timestamp":1769510206.1,"message":{"type":"TurnBegin","payload":{"user_input":[{"type":"text","text":"Go"}]}}}
{"timestamp":1769510206.2,"message":{"type":"StepBegin","payload":{"n":1}}}
{"timestamp":1769510206.3,"message":{"type":"ContentPart","payload":{"type":"think","think":"hm"}}}
{"timestamp":1769510206.4,"message":{"type":"ToolCall","payload":{"type":"function","id":"c1","function":{"name":"ls","arguments":"{\"p\":1}"}}}}
{"timestamp":1769510206.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{"is_error":false,"output":"x"}}}}
{"timestamp":1769510206.6,"message":{"type":"ToolCall","payload":{"type":"function","id":"c2","function":{"name":"ls","arguments":"{}"}}}}
{"timestamp":1769510206.7,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":10,"output":2,"input_cache_read":3,"input_cache_creation":0}}}}
{"timestamp":1769510206.8,"message":{"type":"ToolResult","payload":{"tool_call_id":"c2","return_value":{"is_error":true,"output":[{"type":"text","text":"no"}]}}}}
{"timestamp":1769510206.9,"message":{"type":"StepBegin","payload":{"n":2}}}
{"timestamp":1769510207.0,"message":{"type":"ContentPart","payload":{"type":"text","text":"Done"}}}
{"timestamp":1769510207.1,"message":{"type":"TurnEnd","payload":{}}}
`,
	"kimi's next wire": `{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"Go"}]},"time":1786010401000}
{"type":"turn.prompt","input":[{"type":"text","text":"Go"}],"time":1786010401000}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"u","toolCallId":"c1","name":"ls","args":{"p":1}},"time":1786010405000}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"u","toolCallId":"c1","result":{"output":"x"}},"time":1786010406000}
{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"Done"}},"time":1786010407000}
`,
	"a conversation": `{"id":1,"conversation":[{"role":"user","content":"Go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"Done"}]}`,
	"amp thread":     `{"v":8,"id":"T-1","messages":[{"role":"user","messageId":0,"content":[{"type":"text","text":"Go"}]},{"role":"assistant","messageId":1,"content":[{"type":"tool_use","complete":true,"id":"c1","name":"ls","input":{"p":1}}]},{"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"c1","run":{"status":"done","result":{"output":"x"}}}]},{"role":"assistant","messageId":3,"content":[{"type":"text","text":"Done"}]}]}`,
	"messages of chat, a line each": `{"role":"system","content":"You help."}
{"role":"user","content":"Go"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"x"}
{"role":"tool","tool_call_id":"c2","content":"y"}
{"role":"assistant","content":"Done"}
`,
	"messages of chat in a list": `[{"role":"user","content":"Go"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"Done"}]`,
	"ai sdk in a list":           `[{"role":"user","content":"Go"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"json","value":[1]}}]},{"role":"assistant","content":[{"type":"text","text":"Done"}]}]`,
	"pi, printed": `{"type":"response","command":"prompt","success":true}
{"type":"agent_start"}
{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"Go"}],"timestamp":1767225600000}}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"Go"}],"timestamp":1767225600000}}
{"type":"message_start","message":{"role":"assistant","content":[],"model":"m","stopReason":"stop","timestamp":1767225600100}}
{"type":"message_update","assistantMessageEvent":{"type":"toolcall_start","contentIndex":0}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{"a":1}}],"model":"m","stopReason":"toolUse","timestamp":1767225600100}}
{"type":"message_start","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":false,"timestamp":1767225602000}}
{"type":"message_end","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":false,"timestamp":1767225602000}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done"}],"model":"m","stopReason":"stop","timestamp":1767225602100}}
{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"Go"}]},{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{"a":1}}]},{"role":"assistant","content":[{"type":"text","text":"Done"}]}]}
`,
	"evaluation set of google's kit": `{"eval_set_id":"e","eval_cases":[{"eval_id":"one","conversation":[{"invocation_id":"i","user_content":{"parts":[{"function_call":null,"text":"Go"}],"role":"user"},"final_response":{"parts":[{"text":"Done"}],"role":"model"},"intermediate_data":{"tool_uses":[{"id":"c1","args":{"a":1},"name":"ls"}],"tool_responses":[{"id":"c1","name":"ls","response":{"output":"x"}}],"intermediate_responses":[]}}]}]}`,
	"evaluation set, its events":     `{"evalSetId":"e","eval_cases":[{"eval_id":"one","conversation":[{"userContent":{"parts":[{"text":"Go"}]},"finalResponse":{"parts":[{"text":"Done"}]},"intermediateData":{"invocation_events":[{"author":"a","content":{"parts":[{"functionCall":{"id":"c1","args":{"a":1},"name":"ls"}}],"role":"model"}},{"author":"a","content":{"parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"x"}}}],"role":"user"}}]}}]}]}`,
	"acp": `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Go"}]}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I "}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"look."}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","kind":"execute","status":"pending","rawInput":{}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c2","title":"view","kind":"read","status":"pending","rawInput":{"b":2}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"list files","status":"in_progress","rawInput":{"a":1}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","rawOutput":{"output":"no"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done"}}}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`,
	"amazon q":         `{"conversation_id":"q","next_message":null,"history":[[{"content":{"Prompt":{"prompt":"Go"}},"images":null},{"ToolUse":{"message_id":"m","content":"I look.","tool_uses":[{"id":"c1","name":"ls","orig_name":"ls","args":{"a":1}}]}}],[{"content":{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"c1","content":[{"Json":{"x":1}}],"status":"Success"}]}}},{"Response":{"message_id":"n","content":"Done"}}]]}`,
	"kiro":             `{"conversation_id":"q","history":[{"user":{"content":{"Prompt":{"prompt":"Go"}}},"assistant":{"ToolUse":{"content":"","tool_uses":[{"id":"c1","name":"ls","args":{"a":1}}]}},"request_metadata":{}},{"user":{"content":{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"c1","content":[{"Text":"x"}],"status":"Error"}]}}},"assistant":{"Response":{"content":"Done"}}}]}`,
	"mock of kagent's": `{"openai":[{"name":"asked","match":{"match_type":"contains","message":{"role":"user","content":"Go"}},"response":{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}},{"name":"done","match":{"match_type":"contains","message":{"role":"tool","tool_call_id":"c1","content":"x"}},"response":{"id":"r2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done"},"finish_reason":"stop"}]}}]}`,
	"braintrust's rows of gemini": `[{"type":"task","name":"root"},{"type":"llm","input":{"model":"m","contents":[{"role":"user","parts":[{"text":"Go"}]}]},"output":{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"a":1}}}]},"finishReason":"STOP"}]}},
{"type":"llm","input":{"model":"m","contents":[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]},"output":{"candidates":[{"content":{"role":"model","parts":[{"text":"Done"}]},"finishReason":"STOP"}]}}]`,
	"chat replay": `{"exportedAt":"2025-10-31T16:05:45.798Z","totalPrompts":2,"totalLogEntries":4,"prompts":[{"prompt":"Go","hasSeen":false,"logs":[{"kind":"element"},{"id":"1","kind":"request","metadata":{"model":"m","startTime":"2025-10-31T16:04:48.161Z","endTime":"2025-10-31T16:04:51.120Z"},"response":{"type":"success","message":["I look."]}}]},{"prompt":"Go","hasSeen":true,"logs":[{"id":"c1__vscode-1","kind":"toolCall","tool":"ls","args":"{\"p\":1}","response":["x"]},{"id":"2","kind":"request","metadata":{"model":"m","endTime":"2025-10-31T16:04:55.120Z"},"response":{"type":"success","message":["Done."]}}]}]}`,
}

func TestLogsOfAgentsAreConversations(t *testing.T) {
	want := map[string]string{
		"codex": `shell {"command":["ls"]} a, shell {"command":["pwd"]} b`, "bare items": "shell {} {}", "gemini session": `read_file {"p":1} x`, "gemini checkpoint": "ls {} x",
		"contents in yaml": `ls {"p":1} x`,
		"qwen session":     `read {"p":1} x, read {"p":2} y`, "loglines": "Read {} x", "atif": `ls {"a":1} x, ls {} y`, "otlp": `ls {"a":1} x`, "recordings with chunks": "ls {} x", "marked base64": "ls {} x",
		"histories in yaml": `report_intent {"intent":"Editing file"} Tool, edit {"path":"a"} File`, "chat replay": `ls {"p":1} x`,
		"messages of an agent in yaml": `Read {"p":1} x`, "ai sdk": `ls {"p":1} x, ls {"p":2} y`,
		"messages of chat, a line each": `ls {"p":1} x, ls {} y`, "messages of chat in a list": "ls {} x", "ai sdk in a list": "ls {} [1]",
		"results as the user's messages": `ls {"p":1} x`, "goose session": `ls {"p":1} x, ls {} no`, "amp thread": `ls {"p":1} {"output":"x"}`,
		"opencode session": `ls {"p":1} x, ls {} no`, "copilot events": `ls {"p":1} x, ls {} no`, "continue session": `ls {"p":1} x, ls {} no`, "kimi's wire": `ls {"p":1} x, ls {} no`, "kimi's next wire": `ls {"p":1} x`, "a conversation": "ls {} x",
		"pydantic": `ls {"a":1} {"x":1}, ls {"b":2} no b`, "pydantic, wrapped": "ls {} x", "openhands": `terminal {"command":"ls"} a, file_editor {"path":"/x"} no`,
		"openhands 0": `execute_bash {"command":"ls"} a, execute_bash {} b`, "openhands 0, actions alone": `run {"command":"ls"} a`,
		"langgraph state": `ls {"a":1} x`, "langchain messages": `ls {"a":1} x`, "langchain dumps": `ls {"a":1} x`, "autogen events": `ls {"a":1} x`, "autogen state": `ls {"a":1} x`, "strands messages": `ls {"a":1} x`, "langchain4j": `ls {"a":1} x`, "haystack": `ls {"a":1} x`, "semantic kernel": `p-ls {"a":"1"} x`, "microsoft.extensions.ai": `ls {"a":1} x`, "ai sdk in a page": `ls {"a":1} x`, "ai sdk 4 in a page": `ls {"a":1} x`, "llamaindex store": `ls {"a":1} x`, "agno runs": `ls {"a":1} x`, "ag-ui": `ls {"a":1} x`, "ag-ui state": `ls {"a":1} x`, "mastra": `ls {"a":1} {"x":1}`, "smolagents": `ls {"a":1} x`,
		"codex, printed": `shell {"command":"bash-lcls"} x
`, "gemini, printed": `read_file {"a":1} x`, "cursor, printed": `read {"path":"README.md"} x`, "opencode, printed": `bash {"command":"ls"} x`, "droid, printed": `Read {"a":1} x, Execute {} no`, "messages within lines": `ls {"a":1} x`,
		"bodies as texts": `ls {"a":1} x`, "bodies by other names": `ls {"a":1} x`, "a list of bodies": `ls {"a":1} x`, "messages and an answer": `ls {"a":1} x`, "opik": `ls {"a":1} x`, "langwatch": `ls {"a":1} x`, "openai's agents, a run": `ls {"a":1} x`, "ai sdk, streamed to a page": `ls {"a":1} x`, "ai sdk, its stream": `ls {"a":1} x`, "ai sdk, input in pieces alone": `ls {"a":1} x`, "ag-ui, its stream": `ls {"a":1} x`, "ag-ui, in chunks": `ls {"a":1} x`, "xai's library": `ls {"a":1} x`,
		"litellm": `ls {"a":1} x`, "weave": `ls {"a":1} x`, "mlflow": `ls {"a":1} x`, "datadog": `ls {"a":1} x`, "ai sdk's result": `ls {"a":1} x`, "inputs and outputs": `ls {"a":1} x`,
		"openai's agents, other tools in javascript": `apply_patch {"path":"p","type":"delete_file"} x`, "openai's agents, a run in javascript": `ls {"a":1} x`, "managed agents": `ls {"a":1} x, mcp__s__find {} y, ask {"b":2} no`, "managed agents, a page": `ls {"a":1} x`, "managed agents, by method": `ls {"a":1} x`,
		"any-agent": `ls {"a":1} x, find {} no`, "antigravity": `run_command {"CommandLine":"ls"} no, view_file {"a":1} x`, "codex, its server": `shell {"command":"ls"} x`, "tanstack's page": `ls {"a":1} {"f":"x"}, ls {} []`, "a call within a message of responses": `ls {"a":1} x`, "copilot's parts of an answer": `ls {"a":1} x`,
		"grok history": `ls {"p":1} x`, "docker session": "ls {} x", "pi, printed": `ls {"a":1} x`,
		"evaluation set of google's kit": `ls {"a":1} x`, "evaluation set, its events": `ls {"a":1} x`, "amazon q": `ls {"a":1} {"x":1}`, "acp": `ls {"a":1} x, view {"b":2} no`, "kiro": `ls {"a":1} x`,
		"mock of kagent's": `ls {"a":1} x`, "braintrust's rows of gemini": `ls {"a":1} x`,
	}
	for name, text := range agentLogs {
		for form, text := range map[string]string{"as it is": text, "formatted": reformatted(t, text), "packed": string(gzipped(t, []byte(text)))} {
			rec := open(t, text)
			assert.Empty(t, rec.Problems, name)
			require.Len(t, rec.Conversations, 1, name+" "+form)
			turns := rec.Conversations[0].Turns
			require.NotEmpty(t, turns, name)
			var got []string
			for _, c := range turns[0].Calls {
				r := turns[0].Result(c.ID)
				require.NotNil(t, r, name)
				got = append(got, strings.Join([]string{c.Name, strings.ReplaceAll(string(c.Input), " ", ""), r.Text}, " "))
			}
			assert.Equal(t, strings.ReplaceAll(want[name], "Editing file", "Editingfile"), strings.Join(got, ", "), name+" "+form)
			if name != "loglines" {
				assert.Len(t, turns, 2, name)
			}
		}
	}
}

// Kimi's log has the tools that its requests offered, once for all.
func TestALogMayHaveTheToolsThatWereOffered(t *testing.T) {
	tools := `{"type":"llm.tools_snapshot","hash":"h","tools":[{"name":"ls","description":"Lists.","parameters":{"type":"object","properties":{"p":{"type":"integer"}}}}]}` + "\n"
	turns := open(t, tools+agentLogs["kimi's next wire"]).Conversations[0].Turns
	require.Len(t, turns[0].Tools, 1)
	assert.Equal(t, []string{"ls", "Lists."}, []string{turns[0].Tools[0].Name, turns[0].Tools[0].Description})
	assert.JSONEq(t, `{"type":"object","properties":{"p":{"type":"integer"}}}`, string(turns[0].Tools[0].Schema))
	assert.Empty(t, open(t, agentLogs["kimi's next wire"]).Conversations[0].Turns[0].Tools)
}

// Cursor keeps neither the ids of calls nor results. Its calls are told apart all the same, so that a draft can be made of them.
func TestCallsWithoutAnIDHaveOneEach(t *testing.T) {
	rec := open(t, `{"role":"user","message":{"content":[{"type":"text","text":"Go"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"I look"},{"type":"tool_use","name":"LS","input":{"p":"."}},{"type":"tool_use","name":"LS","input":{"p":"."}}]}}
{"role":"assistant","message":{"content":[{"type":"tool_use","name":"LS","input":{"p":"."}}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done"}]}}
{"type":"turn_ended","status":"success"}
`)
	assert.Empty(t, rec.Problems)
	require.Len(t, rec.Conversations, 1)
	seen := map[string]bool{}
	for _, turn := range rec.Conversations[0].Turns {
		for _, c := range turn.Calls {
			assert.NotEmpty(t, c.ID)
			seen[c.ID] = true
		}
	}
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Len(t, seen, 3)
	assert.Equal(t, "the conversation goes on without its result", rec.Conversations[0].Turns[0].Unanswered[1].Reason)
}

// reformatted is a text that is one document of JSON over several lines.
func reformatted(t *testing.T, text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return indented(t, v)
}

// LangChain's cassettes have requests and responses in a list each, packed as a whole.
func TestRequestsAndResponsesMayStandInListsOfTheirOwn(t *testing.T) {
	var requests, responses []any
	for _, x := range exchanges(t) {
		requests = append(requests, object{"method": "POST", "uri": endpoint, "body": x.request, "headers": object{}})
		responses = append(responses, object{"status": object{"code": 200}, "body": object{"string": binaryNode(gzipped(t, x.response))}, "headers": object{"Content-Encoding": []string{"gzip"}}})
	}
	rec := open(t, string(gzipped(t, []byte(inYAML(t, object{"requests": requests, "responses": responses, "version": 1})))))
	require.Len(t, rec.Conversations, 1)
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, recording.VCRPy, rec.Format)
	rec = open(t, inYAML(t, object{"requests": requests, "responses": responses[:1]}))
	assert.Equal(t, []string{"cut line 6, interaction 1: 2 of the requests have no response"}, problems(rec))
}

func FuzzLogs(f *testing.F) {
	for _, text := range []string{
		">9 {\"setup\":{\"model\":\"m\"}}\n<9 {\n\"toolCall\":{\"functionCalls\":[{\"id\":\"1\",\"name\":\"ls\",\"args\":{}}]}}\n>9 {\"toolResponse\":{\"functionResponses\":[{\"id\":\"1\",\"name\":\"ls\",\"response\":{}}]}}\n",
		"f:{\"messageId\":\"m\"}\n0:\"I look.\"\nb:{\"toolCallId\":\"c\",\"toolName\":\"ls\"}\nc:{\"toolCallId\":\"c\",\"argsTextDelta\":\"{}\"}\n9:{\"toolCallId\":\"c\",\"toolName\":\"ls\",\"args\":{}}\na:{\"toolCallId\":\"c\",\"result\":[]}\nd:{}\n",
		`[{"uuid":"u","chat_messages":[{"sender":"human","text":"Go"},{"sender":"assistant","content":[{"type":"tool_use","name":"ls","input":{}},{"type":"tool_result","content":[]}]}]}]`,
		"2026-01-01T00:00:00Z s {\"role\":\"user\",\"content\":\"Go\"}\n",
	} {
		f.Add([]byte(text))
	}
	for _, text := range agentLogs {
		f.Add([]byte(text))
		f.Add([]byte(text[:2*len(text)/3]))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw) })
}

// Pieces of a stream end anywhere; the event that one completes came with it.
func TestPiecesOfAStreamHaveTheirTimes(t *testing.T) {
	rec := open(t, strings.Replace(agentLogs["recordings with chunks"], `"chunkTimings":[1,2]`, `"chunkTimings":[100,250]`, 1))
	turn := rec.Conversations[0].Turns[0]
	assert.Equal(t, recording.Exact, turn.Pace)
	require.Len(t, turn.Calls, 1)
	assert.Equal(t, recording.Moment{At: 350 * time.Millisecond, Known: true}, turn.Calls[0].Ready)
}

// Some tests keep responses without their requests: each is a conversation of one turn.
func TestAResponseMayStandByItself(t *testing.T) {
	events, err := json.Marshal(string(exchanges(t)[0].response))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"events":    `{"status":200,"headers":{"content-type":"x"},"body":` + string(events) + `}`,
		"a message": `{"status":200,"headers":{"content-type":"x"},"body":` + string(reply(t, script[0])) + `}`,
		"Saloon's":  `{"statusCode":200,"headers":{"Content-Type":"x"},"data":` + string(events) + `,"context":[]}`,
	} {
		rec := open(t, text)
		require.Len(t, rec.Conversations, 1, name)
		assert.Len(t, rec.Conversations[0].Turns, 1, name)
		assert.Len(t, rec.Conversations[0].Turns[0].Calls, len(open(t, string(exchanges(t)[0].response)).Conversations[0].Turns[0].Calls), name)
	}
}

func TestABodyMayStandInOtherMembers(t *testing.T) {
	for name, response := range map[string]func(body string) object{
		"content": func(body string) object {
			return object{"status_code": 200, "http_version": "HTTP/1.1", "headers": object{}, "content": body}
		},
		"body_chunks": func(body string) object {
			half := len(body) / 2
			return object{"status": 200, "headers": [][]string{{"Content-Type", "text/event-stream"}, {"X", "y"}}, "body_chunks": []string{body[:half], body[half:]}}
		},
	} {
		var list []any
		for _, x := range exchanges(t) {
			list = append(list, object{"request": object{"method": "POST", "uri": endpoint, "body": x.request, "headers": object{}}, "response": response(string(x.response))})
		}
		rec := open(t, inYAML(t, object{"interactions": list, "version": 1}))
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 1, name)
		assert.Len(t, rec.Conversations[0].Turns, 3, name)
	}
}

// Gemini's command line records what its library answered, a line an answer, and not what it asked.
func TestResponsesOfGeminisCommandLineAreTurns(t *testing.T) {
	rec := open(t, `{"method":"generateContentStream","response":[{"candidates":[{"content":{"parts":[{"text":"I look. "}],"role":"model"},"index":0}]},{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{"p":1}}}],"role":"model"},"index":0,"finishReason":"STOP"}]}]}
{"method":"countTokens","response":{"totalTokens":3}}
{"method":"generateContent","response":{"candidates":[{"content":{"parts":[{"text":"Done"}],"role":"model"},"finishReason":"STOP","index":0}]}}
`)
	assert.Empty(t, rec.Problems)
	assert.Equal(t, map[string]int{"lines without a type": 1}, rec.Ignored)
	require.Len(t, rec.Conversations[0].Turns, 2)
	assert.Equal(t, []string{`{"p":1}`}, inputs(rec.Conversations[0].Turns[0]))
	assert.Empty(t, rec.Conversations[0].Turns[1].Calls)
}

func inputs(turn *recording.Turn) (all []string) {
	for _, c := range turn.Calls {
		all = append(all, string(c.Input))
	}
	return all
}

// WireMock keeps long bodies in files of their own.
func TestABodyOfWireMocksOutsideOfTheFileIsNamed(t *testing.T) {
	rec := open(t, asJSON(t, object{"request": object{"url": "/v1/messages", "bodyPatterns": []object{{"equalToJson": `{"messages":[{"role":"user","content":"Go"}]}`}}}, "response": object{"status": 200, "bodyFileName": "a.json"}})+
		"\n"+`{"role":"assistant","content":"Done"}`)
	assert.Equal(t, []string{"malformed line 1, interaction 1: a body stands in a file of its own, which is not read with this one: a.json"}, problems(rec))
}

// A recorder may say of each body what it is kept as, and keep a stream as a list of its events.
func TestBodiesMaySayWhatTheyAreKeptAs(t *testing.T) {
	apart := object{"kind": "binary", "path": "a.bin"}
	for _, kind := range []string{"sse", "base64", "binary"} {
		var list []object
		for _, x := range exchanges(t) {
			events := strings.Split(strings.TrimSpace(string(x.response)), "\n\n")
			body := object{"kind": kind, "chunks": events, "value": base64.StdEncoding.EncodeToString(x.response), "path": "a.bin"}
			list = append(list, object{"id": "1", "callIndex": 0, "request": object{"method": "POST", "url": endpoint, "headers": object{}, "body": object{"kind": "json", "value": json.RawMessage(x.request)}},
				"response": object{"status": 200, "headers": object{}, "body": body}})
		}
		list = append(list, object{"request": object{"method": "GET", "url": "https://example.com/", "body": object{"kind": "empty"}}, "response": object{"status": 200, "body": object{"kind": "text", "value": "x"}}})
		if kind == "binary" {
			list[2]["request"].(object)["body"], list[2]["response"].(object)["body"] = apart, string(exchanges(t)[2].response)
			rec := open(t, asJSON(t, object{"entries": list}))
			assert.Len(t, rec.Problems, 3)
			require.Len(t, rec.Conversations, 1, "an answer whose request is elsewhere")
			assert.Equal(t, "malformed line 1, interaction 1: a body stands in a file of its own, which is not read with this one: a.bin", problems(rec)[0])
			continue
		}
		for _, text := range []string{asJSON(t, object{"entries": list, "meta": object{}}), indented(t, object{"entries": list, "meta": object{}})} {
			rec := open(t, text)
			assert.Empty(t, rec.Problems, kind)
			require.Len(t, rec.Conversations, 1, kind)
			assert.Len(t, rec.Conversations[0].Turns, 3, kind)
			assert.NotEmpty(t, rec.Conversations[0].Turns[0].Calls, kind)
		}
	}
}

// Codex prints changes of files when they are done, and calls of servers when they start.
func TestItemsOfARunWithoutATerminalAreCalls(t *testing.T) {
	rec := open(t, `{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"id":"i2","type":"mcp_tool_call","server":"s","tool":"a","arguments":{},"status":"in_progress"}}
{"type":"item.started","item":{"id":"i3","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.updated","item":{"id":"i3","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i3","type":"command_execution","command":"ls","aggregated_output":"no","exit_code":1,"status":"failed"}}
{"type":"item.completed","item":{"id":"i2","type":"mcp_tool_call","server":"s","tool":"a","result":{"content":[{"type":"text","text":"y"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"i4","type":"todo_list","items":[]}}
{"type":"item.completed","item":{"id":"i5","type":"agent_message","text":"Done"}}
`)
	require.Len(t, rec.Conversations, 1)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 3)
	assert.Equal(t, "apply_patch", turns[0].Calls[0].Name)
	assert.Equal(t, "completed", turns[0].Result("i1").Text)
	require.Len(t, turns[1].Calls, 2, "both of one answer")
	assert.Equal(t, "mcp__s__a", turns[1].Calls[0].Name)
	assert.Equal(t, "y", turns[1].Result("i2").Text)
	assert.True(t, turns[1].Result("i3").IsError)
	assert.Equal(t, 1, rec.Ignored[`items of the type "todo_list"`])
}

// A call of a page's stream whose input is no JSON is a call; one that was cut is reported as left out.
func TestThreadsOfCodexsServerMayTakeTurns(t *testing.T) {
	rec := open(t, `{"method":"item/started","params":{"threadId":"t1","item":{"type":"commandExecution","id":"c1","command":"ls","status":"inProgress"}}}
{"method":"item/started","params":{"threadId":"t2","item":{"type":"mcpToolCall","id":"c2","server":"s","tool":"find","arguments":{"q":1},"status":"inProgress"}}}
{"method":"item/completed","params":{"threadId":"t1","item":{"type":"commandExecution","id":"c1","command":"ls","status":"completed","aggregatedOutput":"x"}}}
{"method":"item/completed","params":{"threadId":"t2","item":{"type":"mcpToolCall","id":"c2","server":"s","tool":"find","arguments":{"q":1},"status":"completed","result":{"content":[{"type":"text","text":"y"}]}}}}
{"method":"item/completed","params":{"threadId":"t1","item":{"type":"fileChange","id":"c3","changes":[],"status":"declined"}}}
`)
	assert.Empty(t, rec.Problems)
	require.Len(t, rec.Conversations, 2)
	assert.Len(t, rec.Conversations[0].Turns, 2)
	require.Len(t, rec.Conversations[1].Turns, 1)
	assert.Equal(t, "mcp__s__find", rec.Conversations[1].Turns[0].Calls[0].Name)
	assert.Len(t, rec.Conversations[1].Turns[0].Calls, 1, "a call that began is not made again")
	assert.Equal(t, "y", rec.Conversations[1].Turns[0].Result("c2").Text)
	assert.True(t, rec.Conversations[0].Turns[1].Result("c3").IsError)
}

func TestSessionsOfAnEditorAreToldApart(t *testing.T) {
	said := func(session, text string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}` + "\n"
	}
	rec := open(t, said("s", "Do")+said("s", "ne")+said("t", "Well"))
	require.Len(t, rec.Conversations, 2)
	assert.Len(t, rec.Conversations[0].Turns, 1)
	assert.Empty(t, rec.Ignored)
}

func TestCallsOfAPageAreKeptOrNamed(t *testing.T) {
	begin := `{"type":"start"}` + "\n" + `{"type":"start-step"}` + "\n" + `{"type":"tool-input-start","toolCallId":"c1","toolName":"ls"}` + "\n" +
		`{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{bad"}` + "\n"
	rec := open(t, begin+`{"type":"tool-output-available","toolCallId":"c1","output":"x"}`+"\n")
	require.Len(t, rec.Conversations, 1)
	assert.Equal(t, []string{"c1 x"}, answers(rec.Conversations[0].Turns[0]))
	assert.Empty(t, rec.Problems)
	rec = open(t, begin+`{"type":"text-delta","delta":"Hm."}`+"\n")
	assert.Empty(t, askedOf(rec))
	assert.Equal(t, 1, rec.Ignored["calls whose input was cut"])
	assert.Len(t, rec.Conversations[0].Turns, 1, "the text is kept")
}

// Values behind one another on a line are read as far as they go.
func TestALineOfSeveralValuesIsReadAsFarAsItGoes(t *testing.T) {
	rec := open(t, `{"role":"user","content":"Go."}{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]} {"role":"us`)
	require.Len(t, rec.Conversations, 1)
	assert.Equal(t, []string{"1 c1"}, askedOf(rec))
	assert.Equal(t, []string{"cut line 1: the last line is not complete: the file was cut, or is still being written"}, problems(rec))
}

// What CloudWatch kept of Bedrock's log is read as that log is, in each way in which it gives it out.
func TestWhatAServiceForLogsKeptIsRead(t *testing.T) {
	var lines, stamped, tailed, events, queried []string
	for i, x := range exchanges(t) {
		line := string(dialect.JSON(object{"schemaType": "ModelInvocationLog", "operation": "InvokeModelWithResponseStream",
			"input": object{"inputBodyJson": json.RawMessage(x.request)}, "output": object{"outputBodyJson": json.RawMessage(reply(t, script[i]))}}))
		lines = append(lines, line)
		stamped, tailed = append(stamped, "2026-06-11T10:00:00.000Z "+line), append(tailed, "2026-06-11T10:00:00+00:00 aws/bedrock "+line)
		events = append(events, string(dialect.JSON(object{"timestamp": 1, "message": line})))
		queried = append(queried, `[{"field":"@timestamp","value":"2026-06-11"},{"field":"@message","value":`+string(dialect.JSON(line))+`}]`)
	}
	want := askedOf(open(t, strings.Join(lines, "\n")))
	require.NotEmpty(t, want)
	for name, text := range map[string]string{
		"exported": strings.Join(stamped, "\n"), "followed": strings.Join(tailed, "\n"),
		"events": `{"events":[` + strings.Join(events, ",") + `]}`, "sent on": `{"messageType":"DATA_MESSAGE","logEvents":[` + strings.Join(events, ",") + `]}`,
		"asked for": `{"results":[` + strings.Join(queried, ",") + `],"status":"Complete"}`,
	} {
		t.Run(name, func(t *testing.T) {
			rec := open(t, text)
			assert.Equal(t, want, askedOf(rec))
			assert.Empty(t, rec.Problems)
		})
	}
}

// A batch of Bedrock's has each request beside its answer, and a trace of OpenAI's agents a span for each answer.
func TestBatchesOfBedrocksAndTracesOfOpenAIsAgentsAreRead(t *testing.T) {
	said := object{"role": "assistant", "content": nil, "tool_calls": []any{object{"id": "c1", "type": "function", "function": object{"name": "look", "arguments": `{"at":"a"}`}}}}
	user := object{"role": "user", "content": "Go."}
	span := func(id, began string, data object) string {
		return string(dialect.JSON(object{"object": "trace.span", "id": id, "trace_id": "t", "parent_id": "s0", "started_at": began, "ended_at": began, "span_data": data}))
	}
	traced := []string{
		`{"object":"trace","id":"t","workflow_name":"w"}`,
		span("s3", "2026-01-01T00:00:03Z", object{"type": "generation", "model": "m", "input": []any{user, said, object{"role": "tool", "tool_call_id": "c1", "content": "A"}}, "output": []any{object{"role": "assistant", "content": "Done."}}}),
		span("s2", "2026-01-01T00:00:02Z", object{"type": "function", "name": "look", "input": `{"at":"a"}`, "output": "A"}),
		span("s1", "2026-01-01T00:00:01Z", object{"type": "generation", "model": "m", "input": []any{user}, "output": []any{said}}),
	}
	rec := open(t, strings.Join(traced, "\n"))
	require.Len(t, rec.Conversations, 1)
	require.Len(t, rec.Conversations[0].Turns, 2)
	assert.Equal(t, []string{"c1 A"}, answers(rec.Conversations[0].Turns[0]))
	assert.Equal(t, askedOf(rec), askedOf(open(t, "["+strings.Join(traced, ",")+"]")))
	batch := ""
	for i, x := range exchanges(t) {
		batch += string(dialect.JSON(object{"recordId": fmt.Sprint("r", i), "modelInput": json.RawMessage(x.request), "modelOutput": json.RawMessage(reply(t, script[i]))})) + "\n"
	}
	rec = open(t, batch+`{"recordId":"r9","modelInput":{"messages":[]},"error":{"errorCode":400,"errorMessage":"x"}}`+"\n")
	require.NotEmpty(t, rec.Conversations)
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, map[string]int{"requests of a batch without their answers": 1}, rec.Ignored)
	assert.Empty(t, rec.Problems)
}

// What is known and not read is named, with the way to what is.
func TestWhatIsKnownAndNotReadIsNamed(t *testing.T) {
	for text, why := range map[string]string{
		`{"id":"p","messageID":"m","sessionID":"s","type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":""}}`:                                                   "only parts of a session of OpenCode's, which `opencode export` writes whole (1)",
		`{"id":"m","sessionID":"s","role":"assistant","time":{"created":1}}`:                                                                                                                          "`opencode export` writes a session whole",
		`{"custom_id":"a","method":"POST","url":"/v1/responses","body":{"model":"m","input":"x"}}`:                                                                                                    "requests of a batch without their answers",
		`{"trace":{"agentId":"A","sessionId":"s","trace":{"orchestrationTrace":{}}}}`:                                                                                                                 "traces of Bedrock's agents",
		`{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","kind":"task"}}`:                                                                                                                  "messages between agents",
		`[{"title":"t","mapping":{"a":{}},"current_node":"a"}]`:                                                                                                                                       "conversations that ChatGPT's page exported",
		`{"interactions":[{"request":{"method":"POST","uri":"https://bedrock-agent-runtime.x/agents/A/agentAliases/B/sessions/s/text","body":"{}"},"response":{"status":{"code":200},"body":"{}"}}]}`: "only requests to Bedrock's agents, which run their tools themselves (1)",
	} {
		_, err := recording.Open("f", strings.NewReader(text), recording.Limits{}, nil)
		require.ErrorIs(t, err, recording.ErrNotRecording)
		assert.ErrorContains(t, err, why)
	}
}

// What Claude's page exports has calls with what they gave within an answer; in the first years neither had an id.
func TestWhatClaudesPageExportsIsRead(t *testing.T) {
	call := func(id any, name string, input object) object {
		return object{"type": "tool_use", "id": id, "name": name, "input": input, "message": "Looking", "start_timestamp": "2026-01-01T00:00:01Z"}
	}
	gave := func(id any, text string, failed bool) object {
		return object{"type": "tool_result", "tool_use_id": id, "name": "look", "content": []any{object{"type": "text", "text": text}}, "is_error": failed}
	}
	said := func(text string) object { return object{"type": "text", "text": text, "citations": []any{}} }
	conversation := func(uuid string, answer ...any) object {
		return object{"uuid": uuid, "name": "n", "account": object{"uuid": "a"}, "chat_messages": []any{
			object{"uuid": "m1", "sender": "human", "text": "Look.", "content": []any{said("Look.")}, "created_at": "2026-01-01T00:00:00Z"},
			object{"uuid": "m2", "sender": "assistant", "text": "", "content": answer, "created_at": "2026-01-01T00:00:01Z"},
		}}
	}
	named := conversation("u1", object{"type": "thinking", "thinking": "Hm.", "summaries": []any{}}, call("toolu_1", "look", object{"at": "a"}), gave("toolu_1", "A", false), call("toolu_2", "look", object{"at": "b"}), gave("toolu_2", "no", true), said("Done."), object{"type": "token_budget"})
	unnamed := conversation("u2", said("I look."), call(nil, "look", object{"at": "a"}), call(nil, "look", object{"at": "b"}), gave(nil, "A", false), gave(nil, "B", false), said("Done."))
	rec := open(t, string(dialect.JSON([]any{named, unnamed, object{"uuid": "u3", "chat_messages": []any{}}})))
	assert.Empty(t, rec.Problems)
	require.Len(t, rec.Conversations, 2)
	assert.Equal(t, []string{"1 toolu_1", "1 toolu_2", "2 call-1", "2 call-2"}, askedOf(rec))
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, []string{"toolu_2 failed: no"}, answers(rec.Conversations[0].Turns[1]))
	assert.Equal(t, []string{"call-1 A", "call-2 B"}, answers(rec.Conversations[1].Turns[0]))
	assert.Equal(t, []string{"Look."}, rec.Conversations[0].Turns[0].UserTexts)
	assert.Equal(t, 1, rec.Ignored[`blocks of the kind "token_budget"`], "%v", rec.Ignored)
	assert.Equal(t, []string{"1 toolu_1", "1 toolu_2"}, askedOf(open(t, string(dialect.JSON(named)))), "one by itself")
	first := open(t, `{"uuid":"u","chat_messages":[{"sender":"human","text":"Go."},{"sender":"assistant","text":"I went."}]}`)
	require.Len(t, first.Conversations, 1)
	assert.Equal(t, []string{"Go."}, first.Conversations[0].Turns[0].UserTexts, "the first exports have texts alone")
}
