package io.varve.proxy.map;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.proxy.resp.MalformedReplyException;
import io.varve.proxy.resp.Reply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that asks each member once a second which of its keys have copies, with VARVE.COPIES. Confined to the
 * thread, except {@link #table} and {@link #close}.
 *
 * <p>A member that does not know that command, or forbids it, is asked again when the map has changed. One that fails,
 * or is not ready, is asked again after a pause.
 */
public final class CopiesPoller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CopiesPoller.class);
    private static final long PERIOD_MILLIS = 1_000;
    /** How long a member that does not tell its copies is not asked. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int END_MILLIS = 5_000;

    private final MemberCredentials credentials;
    private final int timeoutMillis;
    private final Consumer<HotKeyCopies> listener;
    private final Thread thread = new Thread(this::run, "varve-proxy-copies");
    private volatile SlotTable table = SlotTable.EMPTY;
    private volatile boolean closed;

    private final Map<Endpoint, BlockingConnection> connections = new HashMap<>();
    private final Map<Endpoint, Long> failedNanos = new HashMap<>();
    private final Set<Endpoint> without = new HashSet<>();
    private SlotTable asked = SlotTable.EMPTY;
    private HotKeyCopies last = HotKeyCopies.NONE;

    /** @param timeoutMillis for a connection and a reply */
    public CopiesPoller(MemberCredentials credentials, int timeoutMillis, Consumer<HotKeyCopies> listener) {
        this.credentials = credentials;
        this.timeoutMillis = timeoutMillis;
        this.listener = listener;
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Asks the members of another map from now on. */
    public void table(SlotTable changed) {
        table = changed;
    }

    private void run() {
        try {
            while (!closed) {
                TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
                tryRound();
            }
        } catch (InterruptedException _) {
            LOG.debug("Copies of hot keys are not followed any more");
        } finally {
            connections.keySet().stream().toList().forEach(this::disconnect);
        }
    }

    private void tryRound() {
        try {
            round();
        } catch (RuntimeException unexpected) {
            LOG.error("The members were not asked for copies of hot keys; the next attempt follows", unexpected);
        }
    }

    private void round() {
        SlotTable now = table;
        if (now != asked) {
            asked = now;
            without.clear();
            connections.keySet().stream().filter(member -> !now.primaries().contains(member)).toList()
                    .forEach(this::disconnect);
        }
        Map<String, List<Endpoint>> found = new HashMap<>();
        if (now.isClustered()) {
            now.primaries().forEach(member -> ask(member, found));
        }
        HotKeyCopies next = last.next(found, System.nanoTime());
        if (!next.isEmpty() || !last.isEmpty()) {
            last = next;
            listener.accept(next);
        }
    }

    private void ask(Endpoint member, Map<String, List<Endpoint>> found) {
        Long failed = failedNanos.get(member);
        if (without.contains(member) || failed != null && System.nanoTime() - failed < PAUSE_NANOS) {
            return;
        }
        try {
            Reply reply = connection(member).call("VARVE.COPIES");
            if (isRefusal(reply)) {
                LOG.debug("Member {} has no copies of hot keys: {}", member, reply.textOrEmpty());
                without.add(member);
                disconnect(member);
            } else if (reply.isError()) {
                throw new IOException(reply.textOrEmpty());
            } else {
                read(reply, found);
            }
            failedNanos.remove(member);
        } catch (IOException | IllegalArgumentException | MalformedReplyException failure) {
            LOG.debug("Member {} does not tell its copies of hot keys", member, failure);
            failedNanos.put(member, System.nanoTime());
            disconnect(member);
        }
    }

    /** Whether the member does not know the command, or does not allow it. */
    private static boolean isRefusal(Reply reply) {
        String text = reply.textOrEmpty();
        return reply.isError() && (text.startsWith("ERR unknown command") || text.startsWith("NOPERM"));
    }

    private BlockingConnection connection(Endpoint member) throws IOException {
        BlockingConnection known = connections.get(member);
        if (known == null) {
            known = new BlockingConnection(member, timeoutMillis, credentials.tls());
            connections.put(member, known);
            known.authenticate(credentials);
        }
        return known;
    }

    private static void read(Reply reply, Map<String, List<Endpoint>> found) {
        for (Reply key : reply.elements()) {
            if (key.elements().size() != 2) {
                throw new IllegalArgumentException("it has replied " + key);
            }
            List<Endpoint> holders = new ArrayList<>();
            for (Reply holder : key.elements().get(1).elements()) {
                Endpoint endpoint = Endpoint.parse(holder.textOrEmpty());
                if (endpoint == null) {
                    throw new IllegalArgumentException("it has named the member " + holder.textOrEmpty());
                }
                holders.add(endpoint);
            }
            found.put(key.elements().getFirst().textOrEmpty(), holders);
        }
    }

    private void disconnect(Endpoint member) {
        BlockingConnection closing = connections.remove(member);
        if (closing != null) {
            try {
                closing.close();
            } catch (IOException unclosed) {
                LOG.debug("A connection to {} does not close", member, unclosed);
            }
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
