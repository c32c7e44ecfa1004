package io.varve.experiments.paced;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The generator: sends requests at the moments of a fixed schedule, whatever the server does, one at a time on each
 * connection. Confined to the main thread of its own process.
 *
 * <p>The moments are evenly spaced over all connections, so that no two requests are due at once and what is measured is the
 * server and not the generator's own queue. It never sleeps: it has a core of its own, and a thread that sleeps wakes late.
 *
 * <p>It prints a line {@code ops N} each second, {@code prepare} a second before what counts begins, and {@code done}.
 */
public final class PacedLoad {
    public static final String OPS = "ops ";
    public static final String PREPARE = "prepare";
    public static final String DONE = "done";

    /** For the JVM's first connections, so that the schedule does not begin late. */
    private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long after the end replies and requests that are behind are waited for. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final PacedSettings settings;
    private final PrintStream out;
    private final long startNanos;
    private final long countFrom;
    private final long endNanos;
    private final Timings timings;
    private final Lane[] lanes;
    private long replies;

    PacedLoad(PacedSettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
        startNanos = System.nanoTime() + LEAD_NANOS;
        countFrom = startNanos + settings.warmupSeconds() * SECOND_NANOS;
        endNanos = countFrom + settings.seconds() * SECOND_NANOS;
        timings = new Timings(countFrom);
        lanes = new Lane[settings.connections()];
    }

    public static void main(String[] arguments) {
        try {
            new PacedLoad(PacedSettings.parse(List.of(arguments)), System.out).run();
        } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
            System.out.println(e.getMessage() == null ? e.toString() : e.getMessage());
            System.exit(1);
        }
    }

    /** @throws IOException also if the server answered with an error */
    void run() throws IOException {
        List<Lane> open = new ArrayList<>();
        try (Selector selector = Selector.open()) {
            Mix mix = Mix.parse(settings.mix());
            for (int i = 0; i < lanes.length; i++) {
                lanes[i] = new Lane(settings, new Requests(settings, mix, i), timings, selector, dueNanos(i));
                open.add(lanes[i]);
            }
            loop(selector);
        } finally {
            for (Lane lane : open) {
                lane.close();
            }
        }
        timings.write(settings.directory(), (long) settings.rate() * settings.seconds());
        if (!timings.firstError().isEmpty()) {
            throw new IOException("error reply: " + timings.firstError());
        }
        out.println(DONE);
    }

    /** When the request of that number is due, counted over all connections in turn. */
    private long dueNanos(long number) {
        long connections = settings.connections();
        long period = settings.periodNanos();
        return startNanos + number / connections * period + number % connections * period / connections;
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
            timings.looked(now);
            while (slotDue <= now && slotDue < endNanos) {
                lanes[(int) (slot % lanes.length)].tick(now);
                slotDue = dueNanos(++slot);
                now = System.nanoTime();
                timings.looked(now);
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
        for (Lane lane : lanes) {
            if (lane.isBehind(endNanos)) {
                return false;
            }
        }
        return true;
    }

    private void read(SelectionKey key) {
        try {
            if (((Lane) key.attachment()).read(endNanos)) {
                replies++;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
