package io.varve.server.command.dispatch;

import java.util.Objects;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.LockWait;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.LoopCounters;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.blocking.BlockedClientServer;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.script.run.ScriptRunner;
import io.varve.server.command.session.BlockingDeadline;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.CrossProtocolGuard;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.ServedReply;
import io.varve.server.resp.Shortage;
import io.varve.server.script.RunningScripts;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;

/**
 * Executes the commands of a batch in order: the {@link CommandGate} decides whether each may run, the
 * {@link CommandRunner} runs it, and this class counts its {@link Outcome}. Confined to its event loop.
 */
public final class Dispatcher implements AutoCloseable {
    /** Replies are flushed before they exceed this size. */
    private static final long MAX_PENDING_BYTES = 256 << 10;

    private final ServerState server;
    private final CacheSession session;
    private final boolean hasFlash;
    /** Null if the server is no member of a cluster. */
    private final @Nullable SlotCheck slots;
    private final TransactionRunner transactions;
    private final BlockedClientServer blockedClients;
    private final ScriptRunner scripts;
    private final ChangeRecorder recorder;
    private final CommandContext context;
    private final LoopCounters counters;
    private final CommandTimes times;
    private final MonitorFeed monitors;
    private final OomGuard oomGuard;
    private final CommandGate gate;
    private final CommandRunner runner;
    private final DeferredReplies deferredReplies;
    private final PublishBackpressure publishBackpressure;
    private final KeyPrefetcher prefetcher;
    private final Ticker clock;
    private final RunningScripts running;
    private final boolean isDuringScripts;
    /** The client whose commands run; null between runs. */
    private @Nullable Client client;
    private boolean givesUpWaits;

    /** @param loop the executor of its event loop */
    public Dispatcher(ServerState server, CommandTable table, EventLoopExecutor loop) {
        this(server, table, loop, server.ticker());
    }

    /** @param duringScripts called at intervals while a script takes long */
    public Dispatcher(ServerState server, CommandTable table, EventLoopExecutor loop, Runnable duringScripts) {
        this(server, table, loop, server.ticker(), duringScripts, false);
    }

    /** A dispatcher for the turns of other connections while a script takes long: it admits few commands. */
    public static Dispatcher duringScripts(ServerState server, CommandTable table, EventLoopExecutor loop) {
        return new Dispatcher(server, table, loop, server.ticker(), () -> {}, true);
    }

    /** @param clock the time of commands: the machine's, or that of a log whose commands run again */
    public Dispatcher(ServerState server, CommandTable table, EventLoopExecutor loop, Ticker clock) {
        this(server, table, loop, clock, () -> {}, false);
    }

    private Dispatcher(ServerState server, CommandTable table, EventLoopExecutor loop, Ticker clock,
            Runnable duringScripts, boolean isDuringScripts) {
        this.server = server;
        this.clock = clock;
        this.isDuringScripts = isDuringScripts;
        running = server.scripting().running();
        Cache cache = server.cache();
        session = cache.newSession();
        FlashKeyFetcher keyFetcher = server.flash() == null
                ? null
                : new FlashKeyFetcher(server.flash(), session, server.argumentMemory());
        hasFlash = keyFetcher != null;
        slots = server.cluster() == null ? null : new SlotCheck(server.cluster(), session);
        counters = server.telemetry().newLoop(table.all().size());
        times = new CommandTimes(server, counters);
        monitors = new MonitorFeed(server);
        oomGuard = new OomGuard(cache, session, times);
        deferredReplies = new DeferredReplies(server, session, oomGuard, clock);
        publishBackpressure = new PublishBackpressure(server, session);
        ShardWaiters shardWaiters = new ShardWaiters(session, cache.shardCount(), loop, running);
        recorder = new ChangeRecorder(server.changes(), session);
        blockedClients = new BlockedClientServer(server, session, keyFetcher, counters, recorder);
        transactions = new TransactionRunner(server, table, session, keyFetcher, counters, times, monitors, oomGuard,
                shardWaiters, blockedClients, recorder, slots);
        context = new CommandContext(cache, session, server, keyFetcher, transactions, counters, recorder);
        gate = new CommandGate(server, session, oomGuard, monitors, slots, isDuringScripts);
        runner = new CommandRunner(server, table, context, keyFetcher, shardWaiters, times, oomGuard, blockedClients,
                slots);
        prefetcher = new KeyPrefetcher(table, session, server.argumentMemory(), () -> server.config().touchAhead());
        CommandContext nested = new CommandContext(cache, session, server, keyFetcher, null, counters, recorder);
        scripts = new ScriptRunner(server, session,
                new NestedCommandRunner(server, table, nested, prefetcher, keyFetcher,
                        times, monitors, gate, oomGuard, counters),
                recorder, duringScripts);
        context.scripts(scripts);
        transactions.scripts(scripts);
    }

    /** Releases pooled memory. Called after its event loop has ended. */
    @Override
    public void close() {
        transactions.close();
        scripts.close();
        blockedClients.close();
        recorder.close();
    }

    public LoopCounters counters() {
        return counters;
    }

    /** Finds the specs of the commands, binds their keys, and touches the memory they will need. */
    public void prepare(Batch batch, Client client) {
        prefetcher.prepare(batch, client.database());
    }

    /**
     * Executes commands from number {@code next} on.
     *
     * @return number of the first command that was not executed: the count of commands, or less if the client is
     *     closing, waits ({@link #takeParkedCommand}), or has so many pending replies that they must be flushed first
     */
    public int run(Batch batch, int next, Client client, ReplyWriter reply) {
        if (!givesUpWaits && !isDuringScripts && !client.connection().isReplay()) {
            givesUpWaits = true;
            LockWait.giveUpIf(this::givesUp);
        }
        this.client = client;
        Tracker tracks = client.tracker();
        if (tracks != null) {
            server.notifications().tracking().running(tracks);
        }
        try {
            return runAll(batch, next, client, reply);
        } finally {
            this.client = null;
            if (tracks != null || client.tracker() != null) {
                server.notifications().tracking().running(null);
            }
            oomGuard.pins().unpin();
            // Without a lock, and before the replies are sent.
            server.notifications().flush();
        }
    }

    /** Whether a command does not go on waiting for a shard: a script is slow, and the loop has other clients. */
    private boolean givesUp() {
        return client != null && running.keepsOthersOut();
    }

    private int runAll(Batch batch, int next, Client client, ReplyWriter reply) {
        int epoch = server.telemetry().counterEpoch();
        counters.enter(epoch);
        session.now(clock.wallMillis());
        session.touching(!client.noTouch());
        session.writesInto(client.writesInto());
        times.begin();
        // Left over from a run whose connection broke.
        context.drainCountedErrors();
        int i = next;
        int uncounted = next;
        int notRun = 0;
        CommandSpec last = null;
        gate.begin(batch, next);
        boolean ordinary = gate.isOrdinary(client);
        while (i < batch.commandCount() && !client.closing() && !runner.isParked()
                && reply.pendingBytes() < MAX_PENDING_BYTES) {
            CommandSpec spec = batch.spec(i);
            runner.tracker(null);
            if (!ordinary && client.subscriptions().expectsMessages()) {
                runner.tracker(client.tracker());
                writeMessages(batch, i, client, reply);
            }
            times.before(batch, i, spec != null && spec.sharesClock(batch.argumentCount(i)), client,
                    session.now());
            Outcome outcome = execute(batch, i, spec, client, ordinary, reply);
            oomGuard.pins().unpin();
            if (spec == null || !spec.isPlain()) {
                ordinary = gate.isOrdinary(client);
                if (epoch != server.telemetry().counterEpoch()) {
                    // CONFIG RESETSTAT is the first command that counts.
                    epoch = server.telemetry().counterEpoch();
                    counters.enter(epoch);
                    uncounted = i;
                    notRun = 0;
                }
            }
            if (outcome == Outcome.RETRY) {
                if (client.waitState().blockedClient() != null) {
                    last = null;
                    client.interacted(Objects.requireNonNull(spec).fullName(), batch.argumentCount(i),
                            session.now());
                }
                break;
            }
            if (hasFlash) {
                batch.flashLookups().endCommand();
            }
            notRun += endCommand(batch, i, spec, client, outcome) ? 0 : 1;
            last = spec == null ? last : spec;
            i++;
        }
        times.settle(batch, i, client, session.now());
        counters.add(LoopCounters.Total.COMMANDS, i - (long) uncounted - notRun);
        if (last != null) {
            client.interacted(last.fullName(), batch.argumentCount(i - 1), session.now());
        }
        return i;
    }

    /**
     * Records the end of a command.
     *
     * @return whether it ran
     */
    private boolean endCommand(Batch batch, int command, @Nullable CommandSpec spec, Client client, Outcome outcome) {
        if (spec == null) {
            times.skip();
            return false;
        }
        if (slots != null && client.isAsking() && client.transaction() == null && !spec.name().equals("asking")) {
            client.asking(false);
        }
        Tracker tracker = runner.tracker();
        if (tracker != null) {
            TrackedReads.commandEnded(client, tracker, spec);
        }
        if (outcome.hasRun()) {
            times.ran(batch, command, outcome == Outcome.FAILED, client, session.now());
            return true;
        }
        if (outcome == Outcome.QUEUED) {
            times.queued(batch, command, client, session.now());
        } else {
            times.refused(batch, command, spec, client, session.now());
        }
        return false;
    }

    /** Writes the messages that the client has to read before the reply of a command. */
    private void writeMessages(Batch batch, int command, Client client, ReplyWriter reply) {
        if (hasPendingMessages(client)) {
            times.settle(batch, command, client, session.now());
            deferredReplies.writeMessages(client, reply);
            times.skip();
        }
    }

    /**
     * Whether messages are pending that the client must read before the next reply, including those of its own
     * commands.
     */
    private boolean hasPendingMessages(Client client) {
        server.notifications().flush();
        return client.subscriptions().hasPendingMessages();
    }

    /** Returns and clears the client's wait after the last {@link #run}; null if it does not wait. */
    public @Nullable ParkedCommand takeParkedCommand() {
        return runner.takeParked();
    }

    /** Writes the reply of a parked command that has its answer. */
    public void answer(ParkedCommand answered, Client client, ReplyWriter reply) {
        deferredReplies.answer(answered, client, reply);
    }

    /** @param ordinary {@link CommandGate#isOrdinary} */
    private Outcome execute(Batch batch, int command, @Nullable CommandSpec spec, Client client, boolean ordinary,
            ReplyWriter reply) {
        oomGuard.reserve(batch, command, client, reply);
        long mark = reply.mark();
        long errors = reply.errors();
        Outcome outcome;
        if (ordinary && spec != null && spec.isPlain() && spec.acceptsCount(batch.argumentCount(command))) {
            String shortage = gate.shortage(batch, command, spec, client);
            outcome = shortage == null
                    ? runner.run(batch, command, spec, client, reply, mark)
                    : refuse(client, spec, reply, shortage);
        } else if (spec == null && CrossProtocolGuard.recognizes(batch, command)) {
            // As in Redis, nothing is replied, not even to the commands in front of it.
            reply.rollback(0);
            server.lifecycle().crossProtocolGuard().warn(client, session.now());
            client.abort();
            return Outcome.REFUSED;
        } else {
            outcome = executeChecked(batch, command, spec, client, reply, mark);
        }
        if (outcome.isWaiting()) {
            return outcome;
        }
        boolean failed = reply.errors() != errors + context.drainCountedErrors();
        if (failed) {
            server.telemetry().errors().add(reply.lastError());
        }
        // The errors of a script are counted where they arose.
        failed |= reply.errors() != errors && spec != null && spec.has(CommandTrait.RUNS_SCRIPT);
        if (client.replyMode() != Client.ReplyMode.ON) {
            // A client without replies still receives messages, and the confirmations of its subscriptions.
            DeferredReplies.suppressReply(client, reply,
                    outcome == Outcome.COMPLETED && spec != null && spec.has(CommandTrait.PUSHES)
                            ? reply.mark()
                            : mark);
        }
        return failed && outcome == Outcome.COMPLETED ? Outcome.FAILED : outcome;
    }

    private static Outcome refuse(Client client, @Nullable CommandSpec spec, ReplyWriter reply, String error) {
        Refusal.reply(client, spec, reply, error);
        return Outcome.REFUSED;
    }

    private Outcome executeChecked(Batch batch, int command, @Nullable CommandSpec spec, Client client,
            ReplyWriter reply, long mark) {
        boolean monitored = monitors.isAny();
        BlockedClient blocked = client.waitState().blockedClient();
        Outcome outcome = endWait(batch, command, spec, client, reply, monitored);
        if (outcome == null) {
            String refusal = gate.refusal(batch, command, spec, client, monitored);
            outcome = refusal == null
                    ? pauseOrRun(batch, command, Objects.requireNonNull(spec), client, reply, mark, monitored)
                    : refuse(client, spec, reply, refusal);
        }
        if (outcome.isWaiting()) {
            return outcome;
        }
        client.waitState().commandAnswered();
        if (monitored && !outcome.hasRun()) {
            monitors.publishRefused(batch, command, spec, client);
        }
        if (blocked != null) {
            // It has been answered, by its handler or in its place.
            ServedReply served = server.lifecycle().endWait(client);
            if (served != null) {
                // Another thread has served it while its re-run was being refused: an element that was taken is sent.
                reply.rollback(mark);
                client.servedUnderLease(true);
                served.writeTo(reply);
                return Outcome.COMPLETED;
            }
        }
        return outcome;
    }

    /** Answers a blocked client that was served, or whose wait has ended; null if the command has to run. */
    private @Nullable Outcome endWait(Batch batch, int command, @Nullable CommandSpec spec, Client client,
            ReplyWriter reply, boolean monitored) {
        BlockedClient blocked = client.waitState().blockedClient();
        BlockedClient.End end = blocked == null ? null : server.blockedKeys().endReason(blocked);
        if (spec != null && spec.waitsForKeys() && client.waitState().blockingDeadline() == null) {
            client.waitState().blockingDeadline(new BlockingDeadline(server.ticker().nanoTime()));
        }
        BlockingDeadline deadline = client.waitState().blockingDeadline();
        if (end == null && (deadline == null || !deadline.hasExpired())) {
            return null;
        }
        if (end == null && monitored) {
            monitors.publishIfShown(batch, command, Objects.requireNonNull(spec), client);
        }
        if (end == null) {
            Blocking.replyTimeout(reply);
        } else {
            Blocking.replyEnd(reply, client, end);
        }
        return Outcome.COMPLETED;
    }

    private Outcome pauseOrRun(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark,
            boolean monitored) {
        if (!server.pause().holds(batch, command, client, TransactionRunner.executed(spec, client))) {
            return runOrQueue(batch, command, spec, client, reply, mark, monitored);
        }
        if (client.waitState().blockedClient() == null) {
            // Its wait for keys has not begun.
            client.waitState().blockingDeadline(null);
        }
        return runner.retryAfter(server.pause().await());
    }

    private Outcome runOrQueue(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark,
            boolean monitored) {
        Transaction transaction = client.transaction();
        if (transaction != null && !spec.has(CommandTrait.RUNS_IN_MULTI)) {
            return queue(batch, command, spec, client, transaction, reply);
        }
        boolean isBlocked = client.waitState().blockedClient() != null;
        if (!isBlocked && PublishBackpressure.publishes(spec, client, gate.publishesEvents())
                && publishBackpressure.isNeeded(client)) {
            return runner.retryAfter(publishBackpressure.begin(client, spec, new BatchArguments(batch, command)));
        }
        // A command that waited for a key was shown to monitors when its wait began.
        String line = monitored && !isBlocked ? monitors.describe(batch, command, spec) : null;
        Outcome outcome = runner.run(batch, command, spec, client, reply, mark);
        if (line != null && (outcome != Outcome.RETRY || client.waitState().blockedClient() != null)) {
            monitors.publish(line, client);
        }
        return outcome;
    }

    private Outcome queue(Batch batch, int command, CommandSpec spec, Client client, Transaction transaction,
            ReplyWriter reply) {
        // Nothing is kept of a transaction that will not run.
        boolean inVain = transaction.failed() || client.watch().hasReportedChange();
        oomGuard.pinForQueueing(batch, command, client);
        Shortage shortage = inVain
                ? Shortage.NONE
                : transaction.add(batch, command, spec, oomGuard.neededBytes(batch, command), prefetcher);
        if (shortage == Shortage.NONE) {
            client.queued(transaction.size(), transaction.heldBytes());
            reply.simple("QUEUED");
            return Outcome.QUEUED;
        }
        return refuse(client, spec, reply, Errors.of(shortage));
    }
}
