package io.varve.experiments.run.ycsb;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.experiments.result.ClassCurve;
import io.varve.experiments.result.PenaltyClass;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.context.LoadGauge;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import org.jspecify.annotations.Nullable;

/**
 * Samples the penalty classes of a server every second, and their curves after each tenth of the operations, over its
 * own connection. It has its own thread; other threads read its fault. It writes each reply to disk at once.
 */
final class PenaltyWatch implements AutoCloseable {
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int TENTHS = 10;
    private static final String POINTS = "40";
    /** The curve of a class with a smaller share of the accesses is noise. */
    private static final double MIN_SHARE = 0.01;

    private final Target target;
    private final LoadGauge gauge;
    private final long operations;
    private final long startNanos;
    /** Whether the server learns curves: one that only measures penalties has none. */
    private final boolean learns;
    private final BufferedWriter classes;
    private final BufferedWriter curves;
    private final Thread thread = Thread.ofPlatform().daemon().name("penalty-watch").unstarted(this::watch);
    private long nextTenth = 1;
    private volatile boolean closed;
    private volatile @Nullable String fault;

    private PenaltyWatch(RunContext context, long operations) throws IOException {
        target = context.target;
        gauge = context.gauge;
        this.operations = operations;
        startNanos = context.startNanos;
        learns = "yes".equals(context.plan.configuration(context.run).settings().get("mrc-tracking"));
        classes = Files.newBufferedWriter(context.directory.resolve(RunFiles.CLASSES_CSV));
        curves = Files.newBufferedWriter(context.directory.resolve(RunFiles.CLASS_CURVES_CSV));
        classes.write(PenaltyClass.CSV_HEADER + "\n");
        curves.write(ClassCurve.CSV_HEADER + "\n");
    }

    /** @param operations number of operations of the whole run */
    static PenaltyWatch start(RunContext context, long operations) throws IOException {
        PenaltyWatch watch = new PenaltyWatch(context, operations);
        watch.thread.start();
        return watch;
    }

    private void watch() {
        try (RespConnection connection = new RespConnection(target.host(), target.port()); classes; curves) {
            for (long due = System.nanoTime(); !closed; due += PERIOD_NANOS) {
                long wait = due - System.nanoTime();
                while (wait > 0 && !closed) {
                    LockSupport.parkNanos(this, wait);
                    wait = due - System.nanoTime();
                }
                // Samples the final state of the run too: the last tenth is then complete.
                sample(connection);
            }
        } catch (IOException | IllegalArgumentException e) {
            fault = "the penalty classes were not recorded: " + e.getMessage();
        }
    }

    private void sample(RespConnection connection) throws IOException {
        long done = gauge.done();
        long elapsedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        List<PenaltyClass> states = PenaltyClass.parse(connection.execute("VARVE.CLASS", "LIST"));
        for (PenaltyClass each : states) {
            classes.write(each.csv(elapsedMillis, done) + "\n");
        }
        classes.flush();
        if (!learns || done * TENTHS < nextTenth * operations) {
            return;
        }
        nextTenth = done * TENTHS / operations + 1;
        long accesses = states.stream().mapToLong(PenaltyClass::accesses).sum();
        for (PenaltyClass each : states) {
            if (each.accesses() > MIN_SHARE * accesses) {
                for (ClassCurve point : ClassCurve.parse(elapsedMillis, done, each.number(), connection
                        .execute("VARVE.MRC", "CLASS", String.valueOf(each.number()), "POINTS", POINTS))) {
                    curves.write(point.csv() + "\n");
                }
            }
        }
        curves.flush();
    }

    /** The reason why sampling has ended; null while it continues. */
    @Nullable
    String fault() {
        return fault;
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
