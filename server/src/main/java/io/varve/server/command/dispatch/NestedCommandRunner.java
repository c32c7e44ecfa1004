package io.varve.server.command.dispatch;

import java.util.Objects;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Ticker;
import io.varve.server.acl.Denial;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.NestedCommands;
import io.varve.server.command.ServerState;
import io.varve.server.command.access.RequestedAccess;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the commands that a script calls: checks each as the dispatcher checks those of clients, with the errors of
 * Redis's scripts, and runs its handler under the locks that the script holds. Confined to its event loop.
 */
final class NestedCommandRunner implements NestedCommands {
    private static final Logger LOG = LoggerFactory.getLogger(NestedCommandRunner.class);
    private static final String UNKNOWN = "ERR Unknown Redis command called from script";
    private static final String WRONG_COUNT = "ERR Wrong number of args calling Redis command from script";
    private static final String NOT_FROM_SCRIPT = "ERR This Redis command is not allowed from script";
    private static final String WAITS_FOR_FLASH = NOT_FROM_SCRIPT + ": it waits for the flash tier";
    private static final String STALE = "ERR Can not execute the command on a stale replica";
    private static final String UNDECLARED = "ERR internal error: the script uses a key that it does not declare";
    private static final String OTHER_SLOT = "ERR Script attempted to access keys that do not hash to the same slot";

    private final ServerState server;
    private final CommandTable table;
    private final CacheSession session;
    private final KeyPrefetcher prefetcher;
    /** Null if there is no flash tier. */
    private final @Nullable ScriptKeysOnFlash onFlash;
    private final CommandTimes times;
    private final MonitorFeed monitors;
    private final CommandGate gate;
    private final OomGuard oomGuard;
    private final Ticker ticker;
    private final CommandContext inner;
    private final LoopCounters counters;
    /** Null if the server is no member of a cluster. */
    private final @Nullable SlotCheck slots;

    /** @param inner a context of its own, in which no command waits */
    NestedCommandRunner(ServerState server, CommandTable table, CommandContext inner, KeyPrefetcher prefetcher,
            @Nullable FlashKeyFetcher keyFetcher, CommandTimes times, MonitorFeed monitors, CommandGate gate,
            OomGuard oomGuard, LoopCounters counters) {
        this.counters = counters;
        this.oomGuard = oomGuard;
        this.server = server;
        this.table = table;
        this.inner = inner;
        inner.isInScript(true);
        this.prefetcher = prefetcher;
        onFlash = keyFetcher == null ? null : new ScriptKeysOnFlash(server, keyFetcher, oomGuard);
        this.times = times;
        this.monitors = monitors;
        this.gate = gate;
        session = inner.session();
        ticker = server.ticker();
        slots = server.cluster() == null ? null : new SlotCheck(server.cluster(), session);
    }

    @Override
    public boolean isStale(Client client) {
        return gate.isRefusedForAge(client);
    }

    @Override
    public @Nullable String misconfigured() {
        return gate.misconfigured();
    }

    @Override
    public @Nullable Boolean isPermitted(Client client, Batch batch) {
        prefetcher.prepare(batch, client.database());
        CommandSpec spec = batch.spec(0);
        if (spec == null || spec.hasSubcommands() && batch.argumentCount(0) > 1) {
            return null;
        }
        return client.user().isUnrestricted()
                || client.user().check(RequestedAccess.of(batch, 0, spec)) == Denial.NONE;
    }

    @Override
    public void announce(CommandContext script) {
        monitors.publishScript(script, script.spec(), script.client());
    }

    @Override
    public boolean isOutOfMemory() {
        return oomGuard.isFullForScript();
    }

    @Override
    public @Nullable String refusal(Client client, Batch batch, Permissions permissions) {
        prefetcher.prepare(batch, client.database());
        String refusal = refusalOf(client, batch, permissions);
        CommandSpec spec = batch.spec(0);
        if (refusal != null && spec != null && !spec.hasSubcommands()) {
            counters.rejected(spec.id());
        }
        return refusal;
    }

    private @Nullable String refusalOf(Client client, Batch batch, Permissions permissions) {
        CommandSpec spec = batch.spec(0);
        if (spec == null) {
            return UNKNOWN;
        }
        if (spec.hasSubcommands()) {
            // As in Redis, a container is named where its subcommand is unknown.
            return batch.argumentCount(0) > 1 ? UNKNOWN : WRONG_COUNT;
        }
        if (!spec.acceptsCount(batch.argumentCount(0))) {
            return WRONG_COUNT;
        }
        if (spec.has(CommandFlag.NOSCRIPT) || spec.has(CommandTrait.DEBUG_ONLY) && !Refusal.mayDebug(server, client)) {
            return NOT_FROM_SCRIPT;
        }
        if (onFlash != null && spec.has(CommandTrait.WAITS_FOR_FLASH)) {
            return WAITS_FOR_FLASH;
        }
        if (gate.isRefusedForAge(client) && !spec.has(CommandFlag.STALE)) {
            return STALE;
        }
        String refusal = client.user().isUnrestricted()
                ? null
                : server.accessGuard().refusalInScript(client, batch, spec);
        if (refusal == null && (spec.isWrite() || spec.has(CommandTrait.MAY_REPLICATE))) {
            refusal = permissions.refusalOfWrite();
            if (refusal == null && spec.isWrite() && !client.connection().isReplay()) {
                refusal = gate.misconfigured();
            }
        }
        if (refusal == null && spec.isDenyOom() && !permissions.allowsOom() && !permissions.hasChanged()) {
            refusal = oomGuard.isFullForScript() ? Errors.OUT_OF_MEMORY : null;
        }
        return refusal == null ? refusalOfKeys(client, batch, spec, permissions) : refusal;
    }

    private @Nullable String refusalOfKeys(Client client, Batch batch, CommandSpec spec, Permissions permissions) {
        if (batch.isRefused(0)) {
            return Errors.of(batch.shortage(0));
        }
        if (!permissions.hasAllShards()) {
            for (int i = 0; i < batch.keyCount(0); i++) {
                if (!session.isLockedByMe(batch.key(i))) {
                    LOG.error("A script uses a key that its analysis did not find, in {}", spec.fullName());
                    return UNDECLARED;
                }
            }
        }
        if (slots == null) {
            return null;
        }
        String refusal = slots.refusal(batch, 0, spec, client, null);
        if (refusal != null) {
            return SlotCheck.inScript(refusal);
        }
        return slots.slot() < 0 || client.connection().isReplay() || permissions.acceptsSlot(slots.slot())
                ? null
                : OTHER_SLOT;
    }

    @Override
    public void run(CommandContext script, Batch batch, ReplyWriter reply, Permissions permissions) {
        Client client = script.client();
        CommandSpec spec = Objects.requireNonNull(batch.spec(0));
        String missing = onFlash == null ? null : onFlash.bringNamed(script, batch, permissions);
        if (missing != null) {
            reply.error(missing);
            return;
        }
        String line = monitors.isAny() ? monitors.describe(batch, 0, spec) : null;
        long errors = reply.errors();
        long begun = ticker.nanoTime();
        runHandler(script, batch, spec, reply, permissions);
        boolean failed = reply.errors() != errors;
        times.ranWithin(batch, 0, ticker.nanoTime() - begun, failed, client, session.now());
        if (failed) {
            server.telemetry().errors().add(reply.lastError());
        }
        if (line != null) {
            monitors.publishInScript(line, client);
        }
    }

    /**
     * Runs the handler, after memory was freed for it. A command that runs out of memory, or its reply, runs again
     * after more was freed, if that is safe. If the locks of the script stand in the way, and nothing has been changed,
     * the whole script runs again.
     */
    private void runHandler(CommandContext script, Batch batch, CommandSpec spec, ReplyWriter reply,
            Permissions permissions) {
        if (spec.isDenyOom()) {
            makeRoom(script, batch, 0, 0);
        }
        long mark = reply.mark();
        long requestedBytes = 0;
        for (int attempt = 1;; attempt++) {
            long changes = session.changes();
            try {
                runOnce(script, batch, spec, reply, permissions, mark);
                return;
            } catch (CacheFullException full) {
                reply.rollback(mark);
                requestedBytes = oomGuard.nextReservation(requestedBytes, full);
                boolean mayRetry = full.isRecoverable()
                        && (session.changes() == changes || oomGuard.canRetry(batch, 0, spec));
                boolean isLast = attempt >= (requestedBytes == 0
                        ? CommandRunner.MAX_ATTEMPTS_IN_VAIN
                        : CommandRunner.MAX_ATTEMPTS);
                if (!mayRetry || isLast || !makeRoom(script, batch, requestedBytes, full.bytes())) {
                    if (!isLast && full.isRecoverable() && !permissions.hasChanged()) {
                        throw full;
                    }
                    reply.error(Errors.OUT_OF_MEMORY);
                    return;
                }
            } catch (NoBufferException none) {
                if (session.changes() != changes) {
                    throw none;
                }
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                boolean isLast = attempt >= CommandRunner.MAX_REPLY_TRIES;
                if (isLast || !makeRoomForReply(script, batch, none, needed)) {
                    if (!isLast && mayRunAgain(script, permissions)) {
                        throw none;
                    }
                    reply.error(Errors.of(none));
                    return;
                }
            }
        }
    }

    /** Whether the script can run from its beginning after its reply found no memory. */
    private static boolean mayRunAgain(CommandContext script, Permissions permissions) {
        return !permissions.hasChanged() && !script.isInTransaction();
    }

    private boolean makeRoom(CommandContext script, Batch batch, long requested, long needed) {
        return server.blockedKeys().withoutCollecting(
                () -> oomGuard.admitInScript(script, batch, requested, needed));
    }

    @Override
    public boolean makeRoomForReply(CommandContext script, NoBufferException none, long needed) {
        return makeRoomForReply(script, null, none, needed);
    }

    private boolean makeRoomForReply(CommandContext script, @Nullable Batch batch, NoBufferException none,
            long needed) {
        return server.blockedKeys().withoutCollecting(
                () -> oomGuard.reserveInScript(script, batch, none, needed));
    }

    private void runOnce(CommandContext script, Batch batch, CommandSpec spec, ReplyWriter reply,
            Permissions permissions, long mark) {
        int waits = 0;
        while (!isRun(script, batch, spec, reply, mark)) {
            String missing = Objects.requireNonNull(onFlash).bringRecorded(script, batch, permissions, waits++);
            if (missing != null) {
                reply.error(missing);
                return;
            }
        }
    }

    /** @return false if it needs keys of the flash tier, which are recorded for fetching */
    private boolean isRun(CommandContext script, Batch batch, CommandSpec spec, ReplyWriter reply, long mark) {
        Client client = script.client();
        inner.begin(client, reply, spec, batch, 0);
        inner.lookups(script.batch());
        try {
            inner.run(table.handler(spec));
            if (inner.takeParkedCommand() != null) {
                throw new IllegalStateException(spec.fullName() + " defers its reply without being declared so");
            }
            Tracker tracker = client.tracker();
            if (tracker != null) {
                TrackedReads.remember(tracker, spec, batch, 0, batch.keyCount(0));
            }
        } catch (Arguments.TextTooLongException tooLong) {
            reply.rollback(mark);
            reply.error("ERR " + tooLong.getMessage());
        } catch (KeyNotResidentException _) {
            reply.rollback(mark);
            return false;
        }
        return true;
    }
}
