package io.varve.server.command.server;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * FUNCTION, SCRIPT and MODULE, as a server answers that runs neither scripts nor modules: there are none, and none can be added.
 * Immutable: static handlers.
 *
 * <p>EVAL and EVALSHA stay unknown commands: after an error that names a missing script a library sends the script.
 */
final class ScriptingCommands {
    private static final String SINCE = "7.0.0";
    private static final String ALL_SHARDS = "request_policy:all_shards";
    private static final String ALL_SUCCEEDED = "response_policy:all_succeeded";
    private static final String NOTHING_RUNS = "NOTBUSY No scripts in execution right now.";
    /** No library, in the form of FUNCTION RESTORE: the version of the format (10), and the checksum of that. */
    private static final byte[] NO_LIBRARIES = {10, 0, 0x5d, (byte) 0x9b, 0x5c, 0x40, 0x0f, 0x7f, (byte) 0xa2,
            (byte) 0xda};

    private ScriptingCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandSpec.named("module").group("server").arity(-2).since("4.0.0")
                .complexity("Depends on subcommand.").summary("Modules: there are none.")
                .subcommand(CommandSpec.named("list").group("server").arity(2)
                        .flags(ADMIN, NOSCRIPT).since("4.0.0")
                        .tips("nondeterministic_output_order").summary("Lists the modules that are loaded: none.")
                        .handler(call -> call.reply().array(0))));
        functions(table);
        scripts(table);
    }

    private static void functions(CommandTable.Builder table) {
        table.add(CommandSpec.named("function").group("scripting").arity(-2).since(SINCE)
                .complexity("Depends on subcommand.").summary("Function libraries: there are none.")
                .subcommand(function("delete", 3, "Deletes a library: there are none.").flags(NOSCRIPT, WRITE)
                        .tips(ALL_SHARDS, ALL_SUCCEEDED)
                        .handler(call -> call.reply().error("ERR Library not found")))
                .subcommand(function("dump", 2, "Answers all libraries as bytes: there are none.").flags(NOSCRIPT)
                        .complexity("O(N) where N is the number of functions")
                        .handler(call -> call.reply().bulk(NO_LIBRARIES)))
                .subcommand(function("flush", -2, "Deletes all libraries: there are none.").flags(NOSCRIPT, WRITE)
                        .tips(ALL_SHARDS, ALL_SUCCEEDED).handler(ScriptingCommands::flushFunctions))
                .subcommand(function("kill", 2, "Ends the function that runs: none does.").flags(NOSCRIPT, ALLOW_BUSY)
                        .tips(ALL_SHARDS, "response_policy:one_succeeded")
                        .handler(call -> call.reply().error(NOTHING_RUNS)))
                .subcommand(function("list", -2, "Lists the libraries: there are none.").flags(NOSCRIPT)
                        .complexity("O(N) where N is the number of functions").tips("nondeterministic_output_order")
                        .handler(ScriptingCommands::listFunctions))
                .subcommand(function("load", -3, "Adds a library: there is no engine that runs one.")
                        .flags(NOSCRIPT, WRITE, DENYOOM).tips(ALL_SHARDS, ALL_SUCCEEDED)
                        .handler(ScriptingCommands::loadFunctions))
                .subcommand(function("stats", 2, "The function that runs, and the engines: there are none.")
                        .flags(NOSCRIPT, ALLOW_BUSY)
                        .tips("nondeterministic_output", ALL_SHARDS, "response_policy:special")
                        .handler(ScriptingCommands::functionStats))
                .subcommand(HelpText.describe("scripting", SINCE).categories("@scripting")
                        .handler(call -> HelpText.reply(call.reply(), "FUNCTION", "DELETE <library-name>",
                                "    Delete a library: there are none.", "DUMP",
                                "    Return all libraries as bytes: there are none.", "FLUSH [ASYNC|SYNC]",
                                "    Delete all libraries: there are none.", "KILL",
                                "    End the function that runs: none does.",
                                "LIST [LIBRARYNAME <pattern>] [WITHCODE]", "    List the libraries: there are none.",
                                "LOAD [REPLACE] <code>", "    Refused: there is no engine that runs functions.",
                                "STATS", "    Return the function that runs, and the engines: there are none."))));
    }

    private static CommandBuilder function(String name, int arity, String summary) {
        return CommandSpec.named(name).group("scripting").arity(arity).since(SINCE).categories("@scripting")
                .summary(summary);
    }

    private static void scripts(CommandTable.Builder table) {
        table.add(CommandSpec.named("script").group("scripting").arity(-2).since("2.6.0")
                .complexity("Depends on subcommand.").summary("Scripts: there are none.")
                .subcommand(function("exists", -3, "Tells which scripts are there: none is.").since("2.6.0")
                        .flags(NOSCRIPT).tips(ALL_SHARDS, "response_policy:agg_logical_and")
                        .complexity("O(N) with N being the number of scripts to check")
                        .handler(ScriptingCommands::scriptsExist))
                .subcommand(function("flush", -2, "Deletes all scripts: there are none.").since("2.6.0").flags(NOSCRIPT)
                        .tips("request_policy:all_nodes", ALL_SUCCEEDED).handler(ScriptingCommands::flushScripts))
                .subcommand(function("kill", 2, "Ends the script that runs: none does.").since("2.6.0")
                        .flags(NOSCRIPT, ALLOW_BUSY).tips(ALL_SHARDS, "response_policy:one_succeeded")
                        .handler(call -> call.reply().error(NOTHING_RUNS)))
                .subcommand(HelpText.describe("scripting", "5.0.0").categories("@scripting")
                        .handler(call -> HelpText.reply(call.reply(), "SCRIPT", "EXISTS <sha1> [<sha1> ...]",
                                "    Return 0 for each: there are no scripts.", "FLUSH [ASYNC|SYNC]",
                                "    Delete all scripts: there are none.", "KILL",
                                "    End the script that runs: none does."))));
    }

    private static void flushFunctions(Invocation call) {
        if (call.argumentCount() > 3) {
            call.reply().error("ERR unknown subcommand or wrong number of arguments for '" + call.argumentString(1)
                    + "'. Try FUNCTION HELP.");
        } else if (isFlushMode(call)) {
            call.reply().ok();
        } else {
            call.reply().error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
        }
    }

    private static void flushScripts(Invocation call) {
        if (isFlushMode(call)) {
            call.reply().ok();
        } else {
            call.reply().error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        }
    }

    private static boolean isFlushMode(Invocation call) {
        return call.argumentCount() == 2
                || call.argumentCount() == 3 && (call.argumentIs(2, "ASYNC") || call.argumentIs(2, "SYNC"));
    }

    private static void scriptsExist(Invocation call) {
        int scripts = call.argumentCount() - 2;
        call.reply().array(scripts);
        for (int i = 0; i < scripts; i++) {
            call.reply().integer(0);
        }
    }

    private static void listFunctions(Invocation call) {
        boolean withCode = false;
        boolean named = false;
        for (int i = 2; i < call.argumentCount(); i++) {
            if (!withCode && call.argumentIs(i, "WITHCODE")) {
                withCode = true;
            } else if (!named && call.argumentIs(i, "LIBRARYNAME")) {
                if (++i == call.argumentCount()) {
                    call.reply().error("ERR library name argument was not given");
                    return;
                }
                named = true;
            } else {
                call.reply().error("ERR Unknown argument " + call.argumentString(i));
                return;
            }
        }
        call.reply().array(0);
    }

    private static void loadFunctions(Invocation call) {
        int last = call.argumentCount() - 1;
        for (int i = 2; i < last; i++) {
            if (!call.argumentIs(i, "REPLACE")) {
                call.reply().error("ERR Unknown option given: " + call.argumentString(i));
                return;
            }
        }
        String code = call.argumentString(last);
        if (!code.startsWith("#!")) {
            call.reply().error("ERR Missing library metadata");
            return;
        }
        int end = 2;
        while (end < code.length() && !Character.isWhitespace(code.charAt(end))) {
            end++;
        }
        call.reply().error("ERR Engine '" + code.substring(2, end) + "' not found");
    }

    private static void functionStats(Invocation call) {
        ReplyWriter reply = call.reply();
        reply.map(2);
        reply.bulkAscii("running_script");
        reply.nil();
        reply.bulkAscii("engines");
        reply.map(0);
    }
}
