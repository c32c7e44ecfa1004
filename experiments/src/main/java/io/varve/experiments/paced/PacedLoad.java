package io.varve.experiments.paced;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The generator: it sends requests on a fixed schedule, independently of the server, one at a time on each connection.
 * Confined to the main thread of its own process.
 *
 * <p>The due times are evenly spaced over all connections. No two requests are due at once, so the measurement shows
 * the server and not the generator's own queue. The generator never sleeps: it has its own core, and a sleeping thread
 * wakes late.
 *
 * <p>It prints a line {@code ops N} each second, {@code prepare} one second before the counted part begins, and {@code
 * done}.
 */
public final class PacedLoad {
    public static final String OPS = "ops ";
    public static final String PREPARE = "prepare";
    public static final String DONE = "done";

    /** Lead time for the JVM's first connections, so that the schedule does not begin late. */
    private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long after the end late replies and requests are waited for. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final PacedSettings settings;
    private final PrintStream out;
    private final long startNanos;
    private final long countFrom;
    private final long endNanos;
    private final Timings timings;
    private final PacedConnection[] connections;
    private long replies;

    PacedLoad(PacedSettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
        startNanos = System.nanoTime() + LEAD_NANOS;
        countFrom = startNanos + settings.warmupSeconds() * SECOND_NANOS;
        endNanos = countFrom + settings.seconds() * SECOND_NANOS;
        timings = new Timings(countFrom);
        connections = new PacedConnection[settings.connections()];
    }

    public static void main(String[] arguments) {
        try {
            PacedSettings.parseRehearsal(List.of(arguments)).ifPresent(PacedLoad::rehearse);
            new PacedLoad(PacedSettings.parse(List.of(arguments)), System.out).run();
        } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
            System.out.println(e.getMessage() == null ? e.toString() : e.getMessage());
            System.exit(1);
        }
    }

    /** Sends a like load to another server first, so that this process is warm when the measured server is not. */
    private static void rehearse(PacedSettings settings) {
        try {
            new PacedLoad(settings, new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.US_ASCII))
                    .send();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws IOException also if the server replied with an error */
    void run() throws IOException {
        send();
        timings.write(settings.directory(), (long) settings.rate() * settings.seconds());
        if (!timings.firstError().isEmpty()) {
            throw new IOException("error reply: " + timings.firstError());
        }
        out.println(DONE);
    }

    private void send() throws IOException {
        List<PacedConnection> open = new ArrayList<>();
        try (Selector selector = Selector.open()) {
            Mix mix = Mix.parse(settings.mix());
            for (int i = 0; i < connections.length; i++) {
                connections[i] = new PacedConnection(settings, new Requests(settings, mix, i), timings, selector,
                        dueNanos(i));
                open.add(connections[i]);
            }
            loop(selector);
        } finally {
            for (PacedConnection connection : open) {
                connection.close();
            }
        }
    }

    /** The due time of a request by its number, counted over all connections in turn. */
    private long dueNanos(long number) {
        long count = settings.connections();
        long period = settings.periodNanos();
        return startNanos + number / count * period + number % count * period / count;
    }

    private void loop(Selector selector) throws IOException {
        long slot = 0;
        long slotDue = dueNanos(0);
        long nextSecond = startNanos + SECOND_NANOS;
        long repliesBefore = 0;
        boolean prepared = false;
        Consumer<SelectionKey> read = this::read; // once: the loop allocates nothing
        while (true) {
            long now = System.nanoTime();
            timings.readClock(now);
            while (slotDue <= now && slotDue < endNanos) {
                connections[(int) (slot % connections.length)].sendIfDue(now);
                slotDue = dueNanos(++slot);
                now = System.nanoTime();
                timings.readClock(now);
            }
            selector.selectNow(read);
            if (now >= nextSecond) {
                out.println(OPS + (replies - repliesBefore));
                repliesBefore = replies;
                nextSecond += SECOND_NANOS;
                if (!prepared && now >= countFrom - SECOND_NANOS) {
                    prepared = true;
                    out.println(PREPARE);
                }
            }
            if (now >= endNanos && (now >= endNanos + GRACE_NANOS || isAnswered())) {
                return;
            }
        }
    }

    private boolean isAnswered() {
        for (PacedConnection connection : connections) {
            if (connection.isBehind(endNanos)) {
                return false;
            }
        }
        return true;
    }

    private void read(SelectionKey key) {
        try {
            if (((PacedConnection) key.attachment()).read(endNanos)) {
                replies++;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
