package io.varve.server.command.dispatch;

import java.util.Objects;
import java.util.function.Predicate;

import io.varve.memory.CacheSession;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.ScriptDeclaration;
import io.varve.server.script.RunningScripts;
import org.jspecify.annotations.Nullable;

/** Decides whether a command may run. Confined to its event loop. */
final class CommandGate {
    private static final String LOG_FAILS = "MISCONF Errors writing to the AOF file: ";
    private static final String FLASH_FAILED = "MISCONF The flash tier has failed and lost its keys: writes are refused"
            + " until the append-only log is rewritten without them";
    private static final String SNAPSHOT_FAILED = "MISCONF The last snapshot could not be saved, so writes are refused"
            + " (stop-writes-on-bgsave-error yes). The server's log says why";

    private static final String PRIMARY_DOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set"
            + " to 'no'.";
    private static final String NO_REPLICAS = "NOREPLICAS Not enough good replicas to write.";

    private final ServerState server;
    private final CacheSession session;
    private final OomGuard oomGuard;
    private final MonitorFeed monitors;
    private final boolean hasFlash;
    private final RunningScripts scripts;
    /** Whether its event loop is in the middle of a script. */
    private final boolean isDuringScripts;
    /** Null if the server is no member of a cluster. */
    private final @Nullable SlotCheck slots;
    /** Whether memory for all writes of the run was available at its start. */
    private boolean roomy;
    /** The error for all writes while a disk cannot be written or replicas are missing; null if there is none. */
    private @Nullable String misconfigured;
    /** Whether keyspace events are published as messages. */
    private boolean publishesEvents;

    CommandGate(ServerState server, CacheSession session, OomGuard oomGuard, MonitorFeed monitors,
            @Nullable SlotCheck slots, boolean isDuringScripts) {
        this.isDuringScripts = isDuringScripts;
        this.slots = slots;
        this.server = server;
        this.session = session;
        this.oomGuard = oomGuard;
        this.monitors = monitors;
        scripts = server.scripting().running();
        hasFlash = server.flash() != null;
    }

    /** Begins a run of the commands from number {@code next} on. */
    void begin(Batch batch, int next) {
        publishesEvents = server.notifications().keyEvents().isOn();
        misconfigured = misconfiguration();
        roomy = oomGuard.fitsBatch(batch, next);
    }

    private @Nullable String misconfiguration() {
        String failure = server.log().failure();
        if (failure != null) {
            return LOG_FAILS + failure;
        }
        if (hasFlash && server.logLifecycle().hasLostKeys()) {
            return FLASH_FAILED;
        }
        if (server.telemetry().snapshots().hasFailed() && server.snapshots().savesAtShutdown()
                && server.config().bool("stop-writes-on-bgsave-error")) {
            return SNAPSHOT_FAILED;
        }
        if (server.role().isReplica()) {
            return server.config().bool("replica-read-only") ? Errors.READ_ONLY : null;
        }
        return server.replicas().isWritable() ? null : NO_REPLICAS;
    }

    /** The error for all writes while a disk cannot be written or replicas are missing; null if there is none. */
    @Nullable
    String misconfigured() {
        return misconfigured;
    }

    private static boolean isWritingTransaction(CommandSpec spec, Client client) {
        Transaction executed = TransactionRunner.executed(spec, client);
        return executed != null && (executed.writes() || executed.declaresWrites());
    }

    /** Whether keyspace events were published as messages when the run began. */
    boolean publishesEvents() {
        return publishesEvents;
    }

    /**
     * Whether plain commands of the client run without further checks. This holds until the client sends another kind
     * of command. Changes by others (ACL rules, MONITOR) apply to what the client sends after their reply, so to its
     * next batch.
     */
    boolean isOrdinary(Client client) {
        return !isDuringScripts && !scripts.keepsOthersOut() && slots == null && !server.pause().isAny()
                && !isRefusedForLoad(client)
                && !isRefusedForAge(client)
                && client.authenticated()
                && client.user().isUnrestricted()
                && client.transaction() == null
                && client.waitState().blockedClient() == null
                && !client.subscriptions().expectsMessages()
                && !monitors.isAny()
                && !publishesEvents;
    }

    /** Whether the client must wait for the end of the load at the start. */
    private boolean isRefusedForLoad(Client client) {
        return server.load().isLoading() && !client.connection().isReplay();
    }

    /** Whether the data is not the primary's present one, and clients must not get it. */
    boolean isRefusedForAge(Client client) {
        return server.role().isReplica() && !server.role().isUp() && !client.connection().isReplay()
                && !server.config().bool("replica-serve-stale-data");
    }

    /** The error for a command without memory; null if there is memory. */
    @Nullable
    String shortage(Batch batch, int command, CommandSpec spec, Client client) {
        if (misconfigured != null && !client.connection().isReplay()
                && (spec.isWrite() || isWritingTransaction(spec, client) || ScriptUse.declaresWrites(batch, command))) {
            return misconfigured;
        }
        if (batch.isRefused(command)) {
            return Errors.of(batch.shortage(command));
        }
        // A command that may stop half way is checked by itself; today none may. The branch stays for the code that C2
        // makes: a SET at a pipeline of 64 took 0.341 µs of CPU time without it and 0.310 with it, one process each.
        if (spec.has(CommandTrait.RUNS_SCRIPT)) {
            // If there is none, the commands of a script without a header are refused one by one.
            oomGuard.admitScript(batch, command, client);
            return oomGuard.isFullForScript() && !client.connection().isReplay() && declaresMemory(batch, command)
                    ? Errors.OUT_OF_MEMORY
                    : null;
        }
        boolean isRoomy = roomy && (batch.keyCount(command) <= 1 || spec.isAllOrNothing());
        return !isRoomy && spec.isDenyOom() && !oomGuard.admit(batch, command, client, 0) ? Errors.OUT_OF_MEMORY : null;
    }

    private static boolean declaresMemory(Batch batch, int command) {
        ScriptDeclaration declared = ScriptUse.declaration(batch, command);
        return declared != null && declared.needsMemory();
    }

    private static boolean allowsStale(Batch batch, int command) {
        ScriptDeclaration declared = ScriptUse.declaration(batch, command);
        return declared == null
                ? Objects.requireNonNull(batch.spec(command)).has(CommandFlag.STALE)
                : declared.allowsStale();
    }

    private static boolean allowsStale(Batch batch, int command, @Nullable Transaction executed) {
        boolean allows = allowsStale(batch, command);
        for (int i = 0; executed != null && i < executed.batch().commandCount() && allows; i++) {
            allows = allowsStale(executed.batch(), i);
        }
        return allows;
    }

    /**
     * The error for a command that may not run; null if it may run or be queued.
     *
     * @param spec null if there is no such command
     * @param monitored whether any client monitors
     */
    @Nullable
    String refusal(Batch batch, int command, @Nullable CommandSpec spec, Client client, boolean monitored) {
        int arguments = batch.argumentCount(command);
        if (spec == null || spec.hasSubcommands() && (arguments > 1 || !spec.isRunnable())
                || !spec.acceptsCount(arguments)
                || spec.has(CommandTrait.DEBUG_ONLY) && !Refusal.mayDebug(server, client)) {
            countUnknown(batch, command, spec, client);
            return Refusal.of(batch, command, spec, Refusal.mayDebug(server, client));
        }
        if (!client.authenticated() && !spec.has(CommandFlag.NO_AUTH)) {
            return Refusal.NO_AUTH;
        }
        if (!spec.has(CommandFlag.ALLOW_BUSY)
                && (isDuringScripts || scripts.keepsOthersOut() && isKeptOut(batch, command, spec, client))) {
            String busy = scripts.busyError();
            if (busy != null || isDuringScripts) {
                return busy == null ? RunningScripts.BUSY_SCRIPT : busy;
            }
        }
        if (client.transaction() != null && cannotBeQueued(spec, client)) {
            return Refusal.NOT_IN_TRANSACTION;
        }
        String denied = client.user().isUnrestricted()
                ? null
                : server.accessGuard().refusal(client, batch, command, spec);
        if (denied == null && slots != null) {
            denied = slots.refusal(batch, command, spec, client, TransactionRunner.executed(spec, client));
        }
        if (denied == null && isRefusedForLoad(client)
                && !mayRunDuringLoad(spec, TransactionRunner.executed(spec, client))) {
            denied = Errors.LOADING;
        }
        if (denied == null) {
            denied = shortage(batch, command, spec, client);
        }
        if (denied == null && isRefusedForAge(client)
                && !allowsStale(batch, command, TransactionRunner.executed(spec, client))) {
            denied = PRIMARY_DOWN;
        }
        if (denied != null) {
            return denied;
        }
        if (!spec.has(CommandTrait.ALLOWED_WHILE_SUBSCRIBED) && client.isListeningOnly()) {
            return CommandErrors.notWhileListening(spec);
        }
        return monitored && MonitorFeed.isKeptFrom(client, spec) ? MonitorFeed.NOT_FOR_MONITORS : null;
    }

    /**
     * Whether a command must not run while a script of any loop is slow. One with keys runs if it finds their shards
     * free.
     */
    private boolean isKeptOut(Batch batch, int command, CommandSpec spec, Client client) {
        if (client.connection().isReplay()) {
            return false;
        }
        Transaction executed = TransactionRunner.executed(spec, client);
        boolean hasKeys = executed == null
                ? batch.keyCount(command) > 0
                : !executed.namesNoKey() && executed.batch().keyTotal() > 0;
        return !hasKeys || scripts.haveEnded();
    }

    /**
     * DEBUG, unlike in Redis, not: its subcommands would find a part of the data, or load it twice.
     *
     * @param executed the transaction that the command runs; null if it is not EXEC
     */
    static boolean mayRunDuringLoad(CommandSpec spec, @Nullable Transaction executed) {
        return all(spec, executed, one -> one.has(CommandFlag.LOADING) && !one.has(CommandTrait.DEBUG_ONLY));
    }

    /** Whether something holds for a command, and for all that it executes. */
    private static boolean all(CommandSpec spec, @Nullable Transaction executed, Predicate<CommandSpec> test) {
        boolean holds = test.test(spec);
        if (executed == null) {
            return holds;
        }
        for (int i = 0; i < executed.batch().commandCount() && holds; i++) {
            holds = test.test(Objects.requireNonNull(executed.batch().spec(i)));
        }
        return holds;
    }

    /** The transactions of a log that is loaded may have run without flash. */
    private boolean cannotBeQueued(CommandSpec spec, Client client) {
        return spec.has(CommandFlag.NO_MULTI)
                || hasFlash && spec.has(CommandTrait.WAITS_FOR_FLASH) && !client.connection().isReplay();
    }

    /** Only for clients that may send commands; others must not learn which commands exist. */
    private void countUnknown(Batch batch, int command, @Nullable CommandSpec spec, Client client) {
        String name = client.authenticated() ? Refusal.unknownName(batch, command, spec) : null;
        if (name != null) {
            String library = client.libraryName();
            server.telemetry().unknownCommands().add(name,
                    client.address() + (library.isEmpty() ? "" : " (" + library + " " + client.libraryVersion() + ")"),
                    session.now());
        }
    }
}
