package io.varve.server.command.script;

import java.util.Set;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.script.run.ScriptRunner;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.ScriptDeclaration;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.script.Script;
import io.varve.server.script.ScriptException;
import io.varve.server.script.ScriptFlag;
import io.varve.server.script.Scripting;
import io.varve.server.script.Sha1;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_MANDATORY_KEYS;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.SKIP_MONITOR;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** EVAL, EVALSHA, their read-only variants, and SCRIPT. Immutable, shared by all event loops. */
public final class ScriptCommands {
    static final String ALL_SHARDS = "request_policy:all_shards";
    static final String ALL_SUCCEEDED = "response_policy:all_succeeded";
    private static final String ACCESS = "RW access update";
    private static final String NO_SCRIPT = "NOSCRIPT No matching script. Please use EVAL.";
    private static final String DEPENDS = "Depends on the script that is executed.";
    /** A longer script would take much of the heap. */
    private static final int MAX_SOURCE_BYTES = 512 << 10;
    private static final int SOURCE = 1;

    private final Scripting scripting;

    public ScriptCommands(ServerState server) {
        scripting = server.scripting();
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(evaluate("eval", "2.6.0", "Executes a server-side Lua script.")
                .handler(context -> evaluate(context, false)));
        table.add(evaluate("evalsha", "2.6.0", "Executes a server-side Lua script by SHA1 digest.")
                .handler(context -> evaluateDigest(context, false)));
        table.add(evaluate("eval_ro", "7.0.0", "Executes a read-only server-side Lua script.").flags(READONLY)
                .handler(context -> evaluate(context, true)));
        table.add(evaluate("evalsha_ro", "7.0.0", "Executes a read-only server-side Lua script by SHA1 digest.")
                .flags(READONLY).handler(context -> evaluateDigest(context, true)));
        table.add(CommandBuilder.named("script").group("scripting").arity(-2).since("2.6.0")
                .complexity("Depends on subcommand.").summary("A container for Lua scripts management commands.")
                .subcommand(subcommand("debug", 3, "3.2.0", "Sets the debug mode: there is no debugger.")
                        .handler(context -> context.reply().error("ERR Varve has no debugger for scripts: use"
                                + " redis.log")))
                .subcommand(subcommand("exists", -3, "2.6.0", "Determines whether server-side Lua scripts exist in"
                        + " the script cache.").complexity("O(N) with N being the number of scripts to check")
                        .tips(ALL_SHARDS, "response_policy:agg_logical_and").handler(this::exist))
                .subcommand(subcommand("flush", -2, "2.6.0", "Removes all server-side Lua scripts from the script"
                        + " cache.").complexity("O(N) with N being the number of scripts in cache")
                        .tips("request_policy:all_nodes", ALL_SUCCEEDED).handler(this::flush))
                .subcommand(subcommand("kill", 2, "2.6.0", "Terminates a server-side Lua script during execution.")
                        .flags(ALLOW_BUSY).tips(ALL_SHARDS, "response_policy:one_succeeded")
                        .handler(context -> kill(context, scripting, false)))
                .subcommand(subcommand("load", 3, "2.6.0", "Loads a server-side Lua script to the script cache.")
                        .flags(STALE).complexity("O(N) with N being the length in bytes of the script body.")
                        .tips("request_policy:all_nodes", ALL_SUCCEEDED).handler(this::load))
                .subcommand(HelpText.describe("scripting", "5.0.0").categories("@scripting")
                        .handler(context -> HelpText.reply(context.reply(), "SCRIPT", "DEBUG (YES|SYNC|NO)",
                                "    Refused: there is no debugger.", "EXISTS <sha1> [<sha1> ...]",
                                "    Return information about the existence of the scripts in the script cache.",
                                "FLUSH [ASYNC|SYNC]",
                                "    Flush the Lua scripts cache. Very dangerous on replicas.", "KILL",
                                "    Kill the currently executing Lua script.", "LOAD <script>",
                                "    Load a script into the scripts cache without executing it."))));
    }

    private CommandBuilder evaluate(String name, String since, String summary) {
        return CommandBuilder.named(name).group("scripting").arity(-3).categories("@scripting").since(since)
                .complexity(DEPENDS).summary(summary)
                .countedKeys(ScriptRunner.KEYS_NUMBER, name.endsWith("_ro") ? "RO access" : ACCESS)
                .flags(NOSCRIPT, SKIP_MONITOR, NO_MANDATORY_KEYS, STALE).traits(CommandTrait.RUNS_SCRIPT)
                .declarations(name.startsWith("evalsha") ? this::declarationByDigest : this::declaration)
                .usesOtherKeys(name.startsWith("evalsha") ? this::mayUseOtherKeysByDigest : this::mayUseOtherKeys);
    }

    private static CommandBuilder subcommand(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).group("scripting").arity(arity).since(since).categories("@scripting")
                .summary(summary).flags(NOSCRIPT);
    }

    // --- declarations

    private @Nullable ScriptDeclaration declaration(Arguments arguments) {
        try {
            return declaration(scripting.scripts().evaluated(source(arguments, SOURCE)).flags());
        } catch (ScriptException invalid) {
            // The handler replies it.
            return null;
        }
    }

    private @Nullable ScriptDeclaration declarationByDigest(Arguments arguments) {
        Script script = byDigest(arguments);
        return script == null ? null : declaration(script.flags());
    }

    /** @param flags null if the script has no header */
    static @Nullable ScriptDeclaration declaration(@Nullable Set<ScriptFlag> flags) {
        if (flags == null) {
            return null;
        }
        boolean writes = !flags.contains(ScriptFlag.NO_WRITES);
        return new ScriptDeclaration(writes, writes && !flags.contains(ScriptFlag.ALLOW_OOM),
                flags.contains(ScriptFlag.ALLOW_STALE));
    }

    // --- EVAL

    private boolean mayUseOtherKeys(Arguments arguments) {
        try {
            return !scripting.scripts().evaluated(source(arguments, SOURCE)).namesItsKeys();
        } catch (ScriptException invalid) {
            // The handler replies it.
            return false;
        }
    }

    private static byte[] source(Arguments arguments, int index) throws ScriptException {
        if (arguments.argumentLength(index) > MAX_SOURCE_BYTES) {
            throw new ScriptException("ERR the script has more than " + MAX_SOURCE_BYTES + " bytes");
        }
        return Memory.toArray(arguments.argumentAddress(index), arguments.argumentLength(index));
    }

    private boolean mayUseOtherKeysByDigest(Arguments arguments) {
        Script script = byDigest(arguments);
        // A transaction asks when the command is queued: the script may be known when it runs.
        return script == null || !script.namesItsKeys();
    }

    private @Nullable Script byDigest(Arguments arguments) {
        String digest = Sha1.at(arguments.argumentAddress(SOURCE), arguments.argumentLength(SOURCE));
        return digest == null ? null : scripting.scripts().find(digest);
    }

    private void evaluate(CommandContext context, boolean readOnly) {
        context.scripts().announce(context);
        if (!hasValidKeys(context)) {
            return;
        }
        Script script;
        try {
            script = scripting.scripts().evaluated(source(context, SOURCE));
        } catch (ScriptException invalid) {
            context.reply().errorOfBytes(invalid.reply());
            return;
        }
        context.scripts().run(context, script, readOnly);
    }

    private void evaluateDigest(CommandContext context, boolean readOnly) {
        context.scripts().announce(context);
        if (context.argumentLength(SOURCE) != Sha1.DIGITS) {
            context.reply().error(NO_SCRIPT);
            return;
        }
        if (!hasValidKeys(context)) {
            return;
        }
        Script script = byDigest(context);
        if (script == null) {
            context.reply().error(NO_SCRIPT);
        } else {
            context.scripts().run(context, script, readOnly);
        }
    }

    /** Checks the number of keys, and replies the error. */
    static boolean hasValidKeys(CommandContext context) {
        ReplyWriter reply = context.reply();
        if (!context.isLong(ScriptRunner.KEYS_NUMBER)) {
            reply.error(Errors.NOT_AN_INTEGER);
        } else if (context.longValue() > context.argumentCount() - ScriptRunner.KEYS_NUMBER - 1) {
            reply.error("ERR Number of keys can't be greater than number of args");
        } else if (context.longValue() < 0) {
            reply.error("ERR Number of keys can't be negative");
        } else {
            return true;
        }
        return false;
    }

    // --- SCRIPT

    private void exist(CommandContext context) {
        int scripts = context.argumentCount() - 2;
        context.reply().array(scripts);
        for (int i = 0; i < scripts; i++) {
            String digest = Sha1.at(context.argumentAddress(2 + i), context.argumentLength(2 + i));
            context.reply().integer(digest != null && scripting.scripts().find(digest) != null ? 1 : 0);
        }
    }

    private void load(CommandContext context) {
        try {
            context.reply().bulkAscii(scripting.scripts().load(source(context, 2)).sha1());
        } catch (ScriptException invalid) {
            context.reply().errorOfBytes(invalid.reply());
        }
    }

    private void flush(CommandContext context) {
        if (isFlushMode(context)) {
            scripting.scripts().flush();
            context.reply().ok();
        } else {
            context.reply().error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        }
    }

    static boolean isFlushMode(CommandContext context) {
        return context.argumentCount() == 2
                || context.argumentCount() == 3 && (context.argumentIs(2, "ASYNC") || context.argumentIs(2, "SYNC"));
    }

    static void kill(CommandContext context, Scripting scripting, boolean function) {
        String refusal = scripting.running().kill(function);
        if (refusal == null) {
            context.reply().ok();
        } else {
            context.reply().error(refusal);
        }
    }
}
