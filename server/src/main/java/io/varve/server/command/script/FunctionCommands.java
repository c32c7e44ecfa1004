package io.varve.server.command.script;

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
import io.varve.server.persistence.ReusedText;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.LibraryPayload;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.script.FunctionLibraries;
import io.varve.server.script.FunctionLibraries.Collision;
import io.varve.server.script.FunctionLibrary;
import io.varve.server.script.LibraryFunction;
import io.varve.server.script.LibrarySet;
import io.varve.server.script.ScriptException;
import io.varve.server.script.Scripting;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_MANDATORY_KEYS;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.SKIP_MONITOR;
import static io.varve.server.command.spec.CommandFlag.STALE;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** FCALL, FCALL_RO, and the subcommands of FUNCTION that change libraries. Immutable, shared by all event loops. */
public final class FunctionCommands {
    private static final String SINCE = "7.0.0";
    private static final String ALL_SHARDS = "request_policy:all_shards";
    private static final String ALL_SUCCEEDED = "response_policy:all_succeeded";
    private static final String ACCESS = "RW access update";
    private static final int NAME = 1;
    private static final int SOURCE = 2;
    private static final int MODE = 3;

    private final ServerState server;
    private final FunctionLibraries libraries;
    private final LibraryReplies replies;

    public FunctionCommands(ServerState server) {
        this.server = server;
        Scripting scripting = server.scripting();
        libraries = scripting.libraries();
        replies = new LibraryReplies(scripting);
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(call("fcall", "Invokes a function.").handler(context -> call(context, false)));
        table.add(call("fcall_ro", "Invokes a read-only function.").flags(READONLY)
                .handler(context -> call(context, true)));
        CommandBuilder function = CommandBuilder.named("function").group("scripting").arity(-2).since(SINCE)
                .complexity("Depends on subcommand.").summary("A container for function commands.");
        addChanges(function);
        addReads(function);
        table.add(function);
    }

    private void addChanges(CommandBuilder function) {
        function.subcommand(change("delete", 3, "Deletes a library and its functions.").tips(ALL_SHARDS, ALL_SUCCEEDED)
                .handler(this::delete));
        function.subcommand(change("flush", -2, "Deletes all libraries and functions.").tips(ALL_SHARDS, ALL_SUCCEEDED)
                .handler(this::flush));
        function.subcommand(change("load", -3, "Creates a library.").flags(DENYOOM).tips(ALL_SHARDS, ALL_SUCCEEDED)
                .complexity("O(1) (considering compilation time is redundant)").handler(this::load));
        function.subcommand(change("restore", -3, "Restores all libraries from a payload.").flags(DENYOOM)
                .tips(ALL_SHARDS, ALL_SUCCEEDED)
                .complexity("O(N) where N is the number of functions on the payload").handler(this::restore));
    }

    private void addReads(CommandBuilder function) {
        function.subcommand(subcommand("dump", 2, "Dumps all libraries into a serialized binary payload.")
                .complexity("O(N) where N is the number of functions").handler(replies::dump));
        function.subcommand(subcommand("kill", 2, "Terminates a function during execution.").flags(ALLOW_BUSY)
                .tips(ALL_SHARDS, "response_policy:one_succeeded")
                .handler(context -> ScriptCommands.kill(context, server.scripting(), true)));
        function.subcommand(subcommand("list", -2, "Returns information about all libraries.")
                .complexity("O(N) where N is the number of functions").tips("nondeterministic_output_order")
                .handler(replies::list));
        function.subcommand(subcommand("stats", 2, "Returns information about a function during execution.")
                .flags(ALLOW_BUSY).tips("nondeterministic_output", ALL_SHARDS, "response_policy:special")
                .handler(replies::stats));
        function.subcommand(HelpText.describe("scripting", SINCE).categories("@scripting").handler(replies::help));
    }

    private CommandBuilder call(String name, String summary) {
        return CommandBuilder.named(name).group("scripting").arity(-3).categories("@scripting").since(SINCE)
                .complexity("Depends on the function that is executed.").summary(summary)
                .countedKeys(ScriptRunner.KEYS_NUMBER, name.endsWith("_ro") ? "RO access" : ACCESS)
                .flags(NOSCRIPT, SKIP_MONITOR, NO_MANDATORY_KEYS, STALE)
                .traits(CommandTrait.RUNS_SCRIPT).declarations(this::declaration)
                .usesOtherKeys(FunctionCommands::mayUseOtherKeys);
    }

    private static CommandBuilder change(String name, int arity, String summary) {
        return subcommand(name, arity, summary).flags(WRITE).traits(CommandTrait.CHANGES_LIBRARIES);
    }

    private static CommandBuilder subcommand(String name, int arity, String summary) {
        return CommandBuilder.named(name).group("scripting").arity(arity).since(SINCE).categories("@scripting")
                .summary(summary).flags(NOSCRIPT);
    }

    // --- FCALL

    /** The keys that a function uses are not known. */
    private static boolean mayUseOtherKeys(Arguments arguments) {
        return true;
    }

    private @Nullable ScriptDeclaration declaration(Arguments arguments) {
        LibraryFunction function = function(arguments);
        return function == null ? null : ScriptCommands.declaration(function.flags());
    }

    private @Nullable LibraryFunction function(Arguments arguments) {
        return arguments.argumentLength(NAME) > Arguments.MAX_TEXT_BYTES
                ? null
                : libraries.current().function(arguments.argumentString(NAME));
    }

    private void call(CommandContext context, boolean readOnly) {
        context.scripts().announce(context);
        LibraryFunction function = function(context);
        ReplyWriter reply = context.reply();
        if (function == null) {
            reply.error("ERR Function not found");
        } else if (!context.isLong(ScriptRunner.KEYS_NUMBER)) {
            reply.error("ERR Bad number of keys provided");
        } else if (ScriptCommands.hasValidKeys(context)) {
            context.scripts().run(context, function, readOnly);
        }
    }

    // --- changes

    private void load(CommandContext context) {
        int last = context.argumentCount() - 1;
        for (int i = SOURCE; i < last; i++) {
            if (!context.argumentIs(i, "REPLACE")) {
                context.reply().error(Errors.endingWith("ERR Unknown option given: ", context.argumentString(i)));
                return;
            }
        }
        try {
            String name = libraries.load(source(context, last), last > SOURCE,
                    !context.client().connection().isReplay());
            changed(context);
            context.reply().bulkAscii(name);
        } catch (ScriptException invalid) {
            context.reply().errorOfBytes(invalid.reply());
        }
    }

    private byte[] source(CommandContext context, int argument) throws ScriptException {
        libraries.requireSize(context.argumentLength(argument));
        return Memory.toArray(context.argumentAddress(argument), context.argumentLength(argument));
    }

    private void delete(CommandContext context) {
        if (libraries.delete(context.argumentString(2))) {
            changed(context);
            context.reply().ok();
        } else {
            context.reply().error("ERR Library not found");
        }
    }

    private void flush(CommandContext context) {
        if (context.argumentCount() > 3) {
            wrongCount(context);
        } else if (ScriptCommands.isFlushMode(context)) {
            libraries.flush();
            changed(context);
            context.reply().ok();
        } else {
            context.reply().error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
        }
    }

    private static void wrongCount(CommandContext context) {
        context.reply().error("ERR unknown subcommand or wrong number of arguments for '" + context.argumentString(1)
                + "'. Try FUNCTION HELP.");
    }

    private void restore(CommandContext context) {
        if (context.argumentCount() > MODE + 1) {
            wrongCount(context);
            return;
        }
        Collision collision = context.argumentCount() > MODE ? collision(context) : Collision.APPEND;
        if (collision == null) {
            context.reply().error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
            return;
        }
        long payload = context.argumentAddress(SOURCE);
        int length = context.argumentLength(SOURCE);
        if (!PayloadReader.isIntact(payload, length)) {
            context.reply().error("ERR DUMP payload version or checksum are wrong");
            return;
        }
        try {
            libraries.restore(read(payload, length, !context.client().connection().isReplay()), collision);
            changed(context);
            context.reply().ok();
        } catch (ScriptException invalid) {
            context.reply().errorOfBytes(invalid.reply());
        } catch (CorruptPayloadException corrupt) {
            context.reply().error("ERR Failed loading library payload");
        }
    }

    private static @Nullable Collision collision(CommandContext context) {
        for (Collision each : Collision.values()) {
            if (context.argumentIs(MODE, each.name())) {
                return each;
            }
        }
        return null;
    }

    /** Collects libraries that are not published yet. Confined to one command. */
    private static final class Restored implements LibraryPayload.Sink<ScriptException> {
        private final FunctionLibraries libraries;
        private final boolean isLimited;
        private LibrarySet all = LibrarySet.EMPTY;

        Restored(FunctionLibraries libraries, boolean isLimited) {
            this.libraries = libraries;
            this.isLimited = isLimited;
        }

        @Override
        public void library(byte[] source) throws ScriptException {
            all = libraries.add(all, source, isLimited);
        }
    }

    private LibrarySet read(long payload, int length, boolean isLimited) throws ScriptException {
        Restored restored = new Restored(libraries, isLimited);
        try (ReusedText text = new ReusedText()) {
            LibraryPayload.read(payload, length, text, new ScriptException("ERR given type is not a function"),
                    restored);
        }
        return restored.all;
    }

    /** It is recorded, and counted as one change, as in Redis. */
    private static void changed(CommandContext context) {
        context.countChanges(1);
        context.changedSilently();
    }

    /** The sources of libraries, in their order. */
    static java.util.List<byte[]> sources(LibrarySet all) {
        return all.libraries().stream().map(FunctionLibrary::source).toList();
    }
}
