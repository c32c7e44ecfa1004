package io.varve.server.command.script.run;

import java.util.List;
import java.util.Objects;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaKilled;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.memory.CacheSession;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.NestedCommands;
import io.varve.server.command.Scripts;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.keys.KeyHashSlots;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.script.LibraryFunction;
import io.varve.server.script.RunningScripts;
import io.varve.server.script.Script;
import io.varve.server.script.ScriptFlag;
import io.varve.server.script.ScriptRun;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of one event loop, one at a time. Confined to that loop.
 *
 * <p>The effects of a script go to the change stream as one transaction, those of a script in EXEC with the others of
 * the transaction. A script that runs out of memory, or needs a key of the flash tier, is run again from its beginning
 * if it has changed nothing. Later its commands get errors for want of memory, and wait for keys.
 */
public final class ScriptRunner implements Scripts, NestedCommands.Permissions, AutoCloseable {
    /** The argument with the number of keys, in each command that runs a script. */
    public static final int KEYS_NUMBER = 2;

    static final LuaString KEYS = LuaString.known("KEYS");
    static final LuaString ARGV = LuaString.known("ARGV");
    private static final String READ_ONLY = "ERR Write commands are not allowed from read-only scripts.";
    private static final String NOT_IN_CLUSTER = "ERR Can not run script on cluster, 'no-cluster' flag is set.";
    private static final String STALE = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to"
            + " 'no'.";
    /** Other connections have turns at this interval while a script is slow. */
    private static final long SERVE_NANOS = 2_000_000;
    /** Enough to double up to the largest reply, plus a few retries because other threads took the freed memory. */
    private static final int MAX_REPLY_TRIES = 24;
    private static final String SHUT_DOWN = "ERR Script ended because the server shuts down.";
    private static final String KILLED = "ERR Script killed by user with SCRIPT KILL";

    private final ServerState server;
    private final CacheSession session;
    private final NestedCommands nested;
    private final ChangeRecorder recorder;
    private final RunningScripts running;
    private final ScriptRun run;
    private final Runnable whileSlow;
    private long servedNanos;
    private boolean isSlow;
    private final CallMemory calls = new CallMemory();
    /** Created for the first script. */
    private @Nullable Interpreter scripts;
    /** Created for the first function. */
    private @Nullable FunctionInterpreter functions;
    /** The one of the last run. */
    private @Nullable Interpreter interpreter;
    private @Nullable ReplyWriter replies;
    /** The command that runs the script; null between scripts. */
    private @Nullable CommandContext call;
    private @Nullable Program program;
    private boolean isReadOnly;
    private int protocol;
    private long changesBefore;
    private boolean hasOtherEffects;
    /** The hash slot of its keys; negative until it is known. */
    private int slot;

    /** A script or a function to run. Immutable. */
    private record Program(String name, boolean isFunction, boolean namesItsKeys,
            java.util.@Nullable Set<ScriptFlag> flags) {
        boolean has(ScriptFlag flag) {
            return flags != null && flags.contains(flag);
        }
    }

    public ScriptRunner(ServerState server, CacheSession session, NestedCommands nested, ChangeRecorder recorder,
            Runnable whileSlow) {
        this.whileSlow = whileSlow;
        this.server = server;
        this.session = session;
        this.nested = nested;
        this.recorder = recorder;
        running = server.scripting().running();
        run = running.add();
    }

    /** Called after its event loop has ended. */
    @Override
    public void close() {
        running.remove(run);
        if (replies != null) {
            replies.close();
        }
    }

    private Interpreter interpreter() {
        return Objects.requireNonNull(interpreter);
    }

    private Interpreter scripts() {
        Interpreter known = scripts;
        if (known == null) {
            known = new Interpreter(server, this, false, this::check);
            scripts = known;
        }
        return known;
    }

    private FunctionInterpreter functions() {
        FunctionInterpreter known = functions;
        if (known == null) {
            known = new FunctionInterpreter(new Interpreter(server, this, true, this::check));
            functions = known;
        }
        return known;
    }

    // --- runs

    @Override
    public void announce(CommandContext context) {
        nested.announce(context);
    }

    @Override
    public void run(CommandContext context, Script script, boolean readOnly) {
        Program started = new Program(script.sha1(), false, script.namesItsKeys(), script.flags());
        interpreter = scripts();
        LuaState lua = interpreter().lua();
        run(context, started, readOnly, () -> {
            lua.globals().put(KEYS, table(context, KEYS_NUMBER + 1, keys(context)));
            int first = KEYS_NUMBER + 1 + keys(context);
            lua.globals().put(ARGV, table(context, first, context.argumentCount() - first));
            return lua.call(script.program().function(lua));
        });
    }

    @Override
    public void run(CommandContext context, LibraryFunction function, boolean readOnly) {
        Program started = new Program(function.name(), true, false, function.flags());
        FunctionInterpreter loaded = functions();
        interpreter = loaded.interpreter();
        run(context, started, readOnly, () -> {
            LuaFunction callback = loaded.callback(function, server.scripting().libraries().current());
            LuaTable keys = table(context, KEYS_NUMBER + 1, keys(context));
            int first = KEYS_NUMBER + 1 + keys(context);
            return interpreter().lua().call(callback, keys, table(context, first, context.argumentCount() - first));
        });
    }

    private static int keys(CommandContext context) {
        context.isLong(KEYS_NUMBER);
        return (int) context.longValue();
    }

    private LuaTable table(CommandContext context, int first, int count) {
        LuaState lua = interpreter().lua();
        LuaTable table = lua.newTable(count, 0);
        // It counts as the script's memory at once, until the run ends.
        lua.root(table);
        for (int i = 0; i < count; i++) {
            int length = context.argumentLength(first + i);
            lua.chargeString(length);
            table.put(i + 1, LuaString.of(Memory.toArray(context.argumentAddress(first + i), length)));
        }
        return table;
    }

    /** The body of a run. */
    private interface Body {
        @Nullable
        Object run();
    }

    private void run(CommandContext context, Program started, boolean readOnly, Body body) {
        String refusal = refusalOf(context, started, readOnly);
        if (refusal != null) {
            context.reply().error(refusal);
            return;
        }
        call = context;
        program = started;
        isReadOnly = readOnly || started.has(ScriptFlag.NO_WRITES);
        protocol = 2;
        changesBefore = session.changes();
        hasOtherEffects = false;
        slot = server.cluster() == null || keys(context) == 0
                ? -1
                : KeyHashSlots.INSTANCE.slot(context.argumentAddress(KEYS_NUMBER + 1),
                        context.argumentLength(KEYS_NUMBER + 1));
        int database = context.database();
        // Its commands record their effects.
        context.withoutRecord();
        // Left over from a run that was given up.
        context.drainCountedErrors();
        boolean isOutermost = !context.isInTransaction();
        if (isOutermost) {
            recorder.beginTransaction();
        }
        run.begin(started.isFunction(), context.client().connection().isReplay(), running.nanoTime());
        try {
            reply(context, body);
        } finally {
            isSlow = false;
            run.end(interpreter().lua().usedBytes());
            call = null;
            program = null;
            if (!started.isFunction()) {
                forgetArguments();
            }
            interpreter().lua().endRun();
            context.client().database(database);
            session.awaitingFills(false);
            context.mayHaveChanged(context.mayHaveChanged() || hasChanged(changesBefore));
            recorder.pause(false);
            if (isOutermost) {
                recorder.endTransaction();
            }
        }
    }

    /** Those of the next script are built before they replace these. */
    private void forgetArguments() {
        LuaTable globals = interpreter().lua().globals();
        globals.put(KEYS, null);
        globals.put(ARGV, null);
    }

    private @Nullable String refusalOf(CommandContext context, Program started, boolean readOnly) {
        boolean isReplay = context.client().connection().isReplay();
        if (isReplay) {
            return null;
        }
        if (started.flags() == null) {
            return nested.isStale(context.client()) ? STALE : null;
        }
        if (started.has(ScriptFlag.NO_CLUSTER) && server.cluster() != null) {
            return NOT_IN_CLUSTER;
        }
        if (nested.isStale(context.client()) && !started.has(ScriptFlag.ALLOW_STALE)) {
            return STALE;
        }
        if (started.has(ScriptFlag.NO_WRITES)) {
            return null;
        }
        if (readOnly) {
            return "ERR Can not execute a script with write flag using *_ro command.";
        }
        String misconfigured = nested.misconfigured();
        if (misconfigured != null) {
            return misconfigured;
        }
        return nested.isOutOfMemory() && !started.has(ScriptFlag.ALLOW_OOM) ? Errors.OUT_OF_MEMORY : null;
    }

    private void reply(CommandContext context, Body body) {
        ReplyWriter reply = context.reply();
        long mark = reply.mark();
        try {
            replyResult(context, LuaState.first(body.run()));
        } catch (LuaError error) {
            reply.rollback(mark);
            replyError(context, error);
        } catch (LuaKilled killed) {
            reply.rollback(mark);
            reply.errorOfBytes(running.haveEnded()
                    ? SHUT_DOWN
                    : KILLED + "... script: " + Objects.requireNonNull(program).name() + place() + ".");
            countError(KILLED, false);
        }
    }

    /**
     * Replies the result. If there is no memory for it, a script that has changed nothing runs again after memory was
     * freed. Otherwise memory is freed under its locks, and if that is not enough, the reply is an error.
     */
    private void replyResult(CommandContext context, @Nullable Object result) {
        ReplyWriter reply = context.reply();
        long mark = reply.mark();
        for (int tries = 1;; tries++) {
            try {
                ResultWriter.write(interpreter().lua(), reply, result, protocol, this::countError);
                return;
            } catch (NoBufferException none) {
                if (!hasChanged() && !context.isInTransaction()) {
                    throw none;
                }
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                if (tries == MAX_REPLY_TRIES || !nested.makeRoomForReply(context, none, needed)) {
                    reply.error(Errors.of(none));
                    countError(Errors.of(none), false);
                    return;
                }
            }
        }
    }

    /** Counts an error of the reply, unless it is the one of a command that the script has called. */
    private void countError(String text, boolean isCounted) {
        if (!isCounted) {
            server.telemetry().errors().add(text);
        }
        Objects.requireNonNull(call).countErrors(1);
    }

    private void replyError(CommandContext context, LuaError error) {
        String text;
        boolean isCounted = false;
        if (error.value() instanceof LuaTable table) {
            text = table.get(ReplyReader.ERR) instanceof LuaString said
                    ? said.toString()
                    : "ERR unknown error";
            isCounted = table.get(ReplyReader.COUNTED) != null;
        } else {
            text = "ERR " + (error.value() instanceof LuaString || error.value() instanceof Double
                    ? LuaNumber.text(error.value())
                    : LuaState.typeName(error.value()));
        }
        context.reply().errorOfBytes(text + " script: " + Objects.requireNonNull(program).name() + place() + ".");
        countError(text, isCounted);
    }

    /** Where the script was when it failed. */
    private String place() {
        Arguments innermost = interpreter().lua().current();
        String position = innermost == null ? "" : innermost.where(1);
        return position.isEmpty() ? "" : ", on @" + position.substring(0, position.length() - 2);
    }

    // --- calls

    /** redis.call and redis.pcall. */
    @Nullable
    Object call(LuaState lua, Arguments arguments, boolean isProtected) {
        CommandContext script = call;
        if (script == null) {
            throw arguments.error("redis.call can only be called inside a script invocation");
        }
        if (arguments.count() == 0) {
            return fail(lua, "ERR Please specify at least one argument for this redis lib call", isProtected);
        }
        if (!calls.fill(lua, arguments)) {
            return fail(lua, "ERR Lua redis lib command arguments must be strings or integers", isProtected);
        }
        Batch batch = calls.batch();
        String refusal = nested.refusal(script.client(), batch, this);
        if (refusal != null) {
            return fail(lua, refusal, isProtected);
        }
        CommandSpec spec = Objects.requireNonNull(batch.spec(0));
        if (spec.isWrite() && !run.tryWrite()) {
            throw new LuaKilled("killed");
        }
        hasOtherEffects |= hasOtherEffects(spec);
        Object result = result(lua, script, batch);
        if (interpreter().replyReader().isError() && !isProtected) {
            throw new LuaError(result);
        }
        return result;
    }

    /** Whether a command has effects beside keys that a second run would repeat, such as a message. */
    private static boolean hasOtherEffects(CommandSpec spec) {
        return !spec.isWrite() && !spec.has(CommandFlag.READONLY)
                && (spec.has(CommandTrait.MAY_REPLICATE) || spec.has(CommandFlag.ADMIN));
    }

    private @Nullable Object result(LuaState lua, CommandContext script, Batch batch) {
        ReplyWriter writer = replies;
        if (writer == null) {
            writer = script.reply().sibling();
            replies = writer;
        }
        writer.rollback(0);
        writer.protocol(protocol);
        nested.run(script, batch, writer, this);
        ReplyReader reader = interpreter().replyReader();
        long reply = writer.onePiece();
        if (reply != 0) {
            return reader.read(reply);
        }
        long bytes = writer.pendingBytes();
        lua.charge(bytes);
        try (NativeMemory memory = new NativeMemory()) {
            long copy = memory.allocate(bytes).address();
            writer.copyTo(copy);
            // The value that it may refer to is not kept until the next call.
            writer.rollback(0);
            return reader.read(copy);
        }
    }

    private @Nullable Object fail(LuaState lua, String error, boolean isProtected) {
        LuaTable table = lua.newTable(0, 2);
        table.put(ReplyReader.ERR, LuaString.of(error));
        table.put(ReplyReader.COUNTED, true);
        server.telemetry().errors().add(error);
        if (isProtected) {
            return table;
        }
        throw new LuaError((Object) table);
    }

    /** The protocol of replies to the script. */
    void protocol(int version) {
        protocol = version;
    }

    /** Sets whether log and replicas get the following changes. */
    void replicates(boolean value) {
        recorder.pause(!value);
    }

    /** Whether the client's user may run a command; null if there is no such command. */
    @Nullable
    Boolean isPermitted(CommandContext script, Arguments arguments) {
        return calls.fill(interpreter().lua(), arguments) ? nested.isPermitted(script.client(), calls.batch()) : null;
    }

    /** The command that runs the script; null while a library is loaded. */
    @Nullable
    CommandContext running() {
        return call;
    }

    private void describe() {
        CommandContext script = Objects.requireNonNull(call);
        String name = Objects.requireNonNull(program).name();
        List<String> command = java.util.stream.IntStream.range(0, script.argumentCount())
                .mapToObj(i -> script.argumentLength(i) > 1024 ? "..." : script.argumentString(i)).toList();
        run.slow(new ScriptRun.RunDescription(name, command));
    }

    // --- permissions

    @Override
    public void check() {
        if (run.isKilled() || running.haveEnded()) {
            throw new LuaKilled("killed");
        }
        if (running.isOverdue(run)) {
            if (!isSlow) {
                isSlow = true;
                describe();
            }
            long now = running.nanoTime();
            if (now - servedNanos >= SERVE_NANOS) {
                servedNanos = now;
                whileSlow.run();
            }
        }
    }

    @Override
    public @Nullable String refusalOfWrite() {
        return isReadOnly ? READ_ONLY : null;
    }

    @Override
    public boolean hasAllShards() {
        return !Objects.requireNonNull(program).namesItsKeys();
    }

    @Override
    public boolean allowsOom() {
        return Objects.requireNonNull(program).has(ScriptFlag.ALLOW_OOM);
    }

    @Override
    public boolean acceptsSlot(int wanted) {
        Program running = Objects.requireNonNull(program);
        if (running.flags() == null || running.has(ScriptFlag.ALLOW_CROSS_SLOT_KEYS)) {
            return true;
        }
        if (slot < 0) {
            slot = wanted;
        }
        return slot == wanted;
    }

    @Override
    public boolean hasChanged() {
        return hasChanged(changesBefore);
    }

    private boolean hasChanged(long before) {
        return hasOtherEffects || session.changes() != before;
    }
}
