package io.varve.server.command.session;

import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;

/** The line of CLIENT LIST for one client. Immutable: static methods only. */
public final class ClientLine {
    /** Heap bytes of a connection, measured over 4,000 connections that had sent a PING. */
    private static final long CONNECTION_BYTES = 2_600;

    private ClientLine() {}

    /** The line of a client whose running command, if any, is not known. */
    public static String of(Client client, long now) {
        return line(client, now, null, client.waitState().waitingArgumentBytes());
    }

    /**
     * The line of a client that is running a command.
     *
     * @param running the running command
     * @param arguments the command's arguments
     */
    public static String of(Client client, long now, CommandSpec running, Arguments arguments) {
        return line(client, now, running.fullName(), arguments.argumentBytes());
    }

    private static String line(Client client, long now, @Nullable String running, long argumentBytes) {
        Connection connection = client.connection();
        long incoming = connection.incomingBytes();
        long capacity = connection.incomingCapacityBytes();
        long outgoing = client.outgoingBytes();
        Subscriptions.Counts listensTo = client.subscriptions().counts();
        return "id=" + client.id() + " addr=" + client.address() + " laddr=" + client.localAddress() + " fd="
                + connection.fileDescriptor() + " name=" + client.name() + " age="
                + (now - client.createdMillis()) / 1000 + " idle="
                + (running != null ? 0 : Math.max(0, now - client.lastInteractionMillis()) / 1000) + " flags="
                + flags(client)
                + " db="
                + client.database() + " sub=" + listensTo.channels() + " psub=" + listensTo.patterns() + " ssub="
                + listensTo.shardChannels() + " multi="
                + client.queuedCommands() + " watch=" + client.watch().keyCount() + " qbuf=" + incoming + " qbuf-free="
                + (capacity - incoming) + " argv-mem=" + argumentBytes + " multi-mem=" + client.queuedBytes()
                + " rbs=0 rbp=0 obl=0 oll=0 omem="
                + outgoing + " tot-mem="
                + (CONNECTION_BYTES + capacity + outgoing + argumentBytes + client.queuedBytes()) + " events=r cmd="
                + (running == null ? client.lastCommand() : running) + " user=" + client.account().text()
                + " redir=" + client.redirection() + " resp=" + client.protocol() + " lib-name="
                + client.libraryName() + " lib-ver=" + client.libraryVersion();
    }

    private static String flags(Client client) {
        String flags = (client.isMonitor() ? "O" : "") + (client.isReplica() ? "S" : "")
                + (client.isListening() ? "P" : "")
                + (client.queuedCommands() >= 0 ? "x" : "")
                + (client.readsFromReplica() ? "r" : "")
                + (client.waitState().waiting() ? "b" : "") + trackingFlags(client.tracker())
                + (client.connection().isUnixSocket() ? "U" : "")
                + (client.noEvict() ? "e" : "") + (client.noTouch() ? "T" : "");
        return flags.isEmpty() ? "N" : flags;
    }

    private static String trackingFlags(@Nullable Tracker tracker) {
        return tracker == null
                ? ""
                : "t" + (tracker.isRedirectionBroken() ? "R" : "") + (tracker.options().broadcasts() ? "B" : "");
    }
}
