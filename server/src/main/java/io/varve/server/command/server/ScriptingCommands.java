package io.varve.server.command.server;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * FUNCTION, SCRIPT and MODULE, as replied by a server that runs neither scripts nor modules: there are none, and none
 * can be added. Immutable: static handlers.
 *
 * <p>EVAL and EVALSHA stay unknown commands: a client library would answer an error about a missing script by sending
 * it.
 */
final class ScriptingCommands {
    private static final String SINCE = "7.0.0";
    private static final String ALL_SHARDS = "request_policy:all_shards";
    private static final String ALL_SUCCEEDED = "response_policy:all_succeeded";
    private static final String NOTHING_RUNS = "NOTBUSY No scripts in execution right now.";
    /** An empty library dump in the format of FUNCTION RESTORE: the format version (10) and its checksum. */
    private static final byte[] NO_LIBRARIES = {10, 0, 0x5d, (byte) 0x9b, 0x5c, 0x40, 0x0f, 0x7f, (byte) 0xa2,
            (byte) 0xda};

    private ScriptingCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("module").group("server").arity(-2).since("4.0.0")
                .complexity("Depends on subcommand.").summary("A container for module commands; Varve has no modules")
                .subcommand(CommandBuilder.named("list").group("server").arity(2)
                        .flags(ADMIN, NOSCRIPT).since("4.0.0")
                        .tips("nondeterministic_output_order")
                        .summary("Lists the loaded modules, of which there are none")
                        .handler(context -> context.reply().array(0))));
        functions(table);
        scripts(table);
    }

    private static void functions(CommandTable.Builder table) {
        table.add(CommandBuilder.named("function").group("scripting").arity(-2).since(SINCE)
                .complexity("Depends on subcommand.")
                .summary("A container for function commands; Varve has no functions")
                .subcommand(function("delete", 3, "Deletes a library; there are none").flags(NOSCRIPT, WRITE)
                        .tips(ALL_SHARDS, ALL_SUCCEEDED)
                        .handler(context -> context.reply().error("ERR Library not found")))
                .subcommand(
                        function("dump", 2, "Returns all libraries in serialized form; there are none").flags(NOSCRIPT)
                                .complexity("O(N) where N is the number of functions")
                                .handler(context -> context.reply().bulk(NO_LIBRARIES)))
                .subcommand(function("flush", -2, "Deletes all libraries; there are none").flags(NOSCRIPT, WRITE)
                        .tips(ALL_SHARDS, ALL_SUCCEEDED).handler(ScriptingCommands::flushFunctions))
                .subcommand(function("kill", 2, "Stops the running function; none runs").flags(NOSCRIPT, ALLOW_BUSY)
                        .tips(ALL_SHARDS, "response_policy:one_succeeded")
                        .handler(context -> context.reply().error(NOTHING_RUNS)))
                .subcommand(function("list", -2, "Lists the libraries; there are none").flags(NOSCRIPT)
                        .complexity("O(N) where N is the number of functions").tips("nondeterministic_output_order")
                        .handler(ScriptingCommands::listFunctions))
                .subcommand(function("load", -3, "Not available: Varve has no engine for functions")
                        .flags(NOSCRIPT, WRITE, DENYOOM).tips(ALL_SHARDS, ALL_SUCCEEDED)
                        .handler(ScriptingCommands::loadFunctions))
                .subcommand(function("stats", 2, "Returns the running function and the engines; there are none")
                        .flags(NOSCRIPT, ALLOW_BUSY)
                        .tips("nondeterministic_output", ALL_SHARDS, "response_policy:special")
                        .handler(ScriptingCommands::functionStats))
                .subcommand(HelpText.describe("scripting", SINCE).categories("@scripting")
                        .handler(context -> HelpText.reply(context.reply(), "FUNCTION", "DELETE <library-name>",
                                "    Delete a library. There are none.", "DUMP",
                                "    Return all libraries in serialized form. There are none.", "FLUSH [ASYNC|SYNC]",
                                "    Delete all libraries. There are none.", "KILL",
                                "    Stop the running function. None runs.",
                                "LIST [LIBRARYNAME <pattern>] [WITHCODE]", "    List the libraries. There are none.",
                                "LOAD [REPLACE] <code>", "    Not available: Varve has no engine for functions.",
                                "STATS", "    Return the running function and the engines. There are none."))));
    }

    private static CommandBuilder function(String name, int arity, String summary) {
        return CommandBuilder.named(name).group("scripting").arity(arity).since(SINCE).categories("@scripting")
                .summary(summary);
    }

    private static void scripts(CommandTable.Builder table) {
        table.add(CommandBuilder.named("script").group("scripting").arity(-2).since("2.6.0")
                .complexity("Depends on subcommand.").summary("A container for script commands; Varve has no scripts")
                .subcommand(function("exists", -3, "Returns which scripts exist; there are none").since("2.6.0")
                        .flags(NOSCRIPT).tips(ALL_SHARDS, "response_policy:agg_logical_and")
                        .complexity("O(N) with N being the number of scripts to check")
                        .handler(ScriptingCommands::scriptsExist))
                .subcommand(function("flush", -2, "Deletes all scripts; there are none").since("2.6.0").flags(NOSCRIPT)
                        .tips("request_policy:all_nodes", ALL_SUCCEEDED).handler(ScriptingCommands::flushScripts))
                .subcommand(function("kill", 2, "Stops the running script; none runs").since("2.6.0")
                        .flags(NOSCRIPT, ALLOW_BUSY).tips(ALL_SHARDS, "response_policy:one_succeeded")
                        .handler(context -> context.reply().error(NOTHING_RUNS)))
                .subcommand(HelpText.describe("scripting", "5.0.0").categories("@scripting")
                        .handler(context -> HelpText.reply(context.reply(), "SCRIPT", "EXISTS <sha1> [<sha1> ...]",
                                "    Return 0 for each digest. There are no scripts.", "FLUSH [ASYNC|SYNC]",
                                "    Delete all scripts. There are none.", "KILL",
                                "    Stop the running script. None runs."))));
    }

    private static void flushFunctions(CommandContext context) {
        if (context.argumentCount() > 3) {
            context.reply()
                    .error("ERR unknown subcommand or wrong number of arguments for '" + context.argumentString(1)
                            + "'. Try FUNCTION HELP.");
        } else if (isFlushMode(context)) {
            context.reply().ok();
        } else {
            context.reply().error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
        }
    }

    private static void flushScripts(CommandContext context) {
        if (isFlushMode(context)) {
            context.reply().ok();
        } else {
            context.reply().error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        }
    }

    private static boolean isFlushMode(CommandContext context) {
        return context.argumentCount() == 2
                || context.argumentCount() == 3 && (context.argumentIs(2, "ASYNC") || context.argumentIs(2, "SYNC"));
    }

    private static void scriptsExist(CommandContext context) {
        int scripts = context.argumentCount() - 2;
        context.reply().array(scripts);
        for (int i = 0; i < scripts; i++) {
            context.reply().integer(0);
        }
    }

    private static void listFunctions(CommandContext context) {
        boolean withCode = false;
        boolean named = false;
        for (int i = 2; i < context.argumentCount(); i++) {
            if (!withCode && context.argumentIs(i, "WITHCODE")) {
                withCode = true;
            } else if (!named && context.argumentIs(i, "LIBRARYNAME")) {
                if (++i == context.argumentCount()) {
                    context.reply().error("ERR library name argument was not given");
                    return;
                }
                named = true;
            } else {
                context.reply().error("ERR Unknown argument " + context.argumentString(i));
                return;
            }
        }
        context.reply().array(0);
    }

    private static void loadFunctions(CommandContext context) {
        int last = context.argumentCount() - 1;
        for (int i = 2; i < last; i++) {
            if (!context.argumentIs(i, "REPLACE")) {
                context.reply().error("ERR Unknown option given: " + context.argumentString(i));
                return;
            }
        }
        String code = context.argumentString(last);
        if (!code.startsWith("#!")) {
            context.reply().error("ERR Missing library metadata");
            return;
        }
        int end = 2;
        while (end < code.length() && !Character.isWhitespace(code.charAt(end))) {
            end++;
        }
        context.reply().error("ERR Engine '" + code.substring(2, end) + "' not found");
    }

    private static void functionStats(CommandContext context) {
        ReplyWriter reply = context.reply();
        reply.map(2);
        reply.bulkAscii("running_script");
        reply.nil();
        reply.bulkAscii("engines");
        reply.map(0);
    }
}
