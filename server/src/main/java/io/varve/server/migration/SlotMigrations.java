package io.varve.server.migration;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.varve.server.clustering.ClusterListener;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.ServerState;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the migrations that the map of the controllers declares: a {@link SlotMigrator} for each member that
 * receives slots of this one, a {@link SlotCleaner}, and a {@link KeyCopier}. Any thread reports changes; its own
 * thread starts the others.
 *
 * <p>All that a migration needs to know is in the map, so a member that has started again, or was promoted, goes on.
 */
public final class SlotMigrations implements ClusterListener, AutoCloseable {
    private static final long TICK_MILLIS = 200;

    private final ServerState server;
    private final ClusterState cluster;
    private final SlotCleaner cleaner;
    private final KeyCopier copier;
    private final Thread thread;
    /** Guarded by itself. */
    private final Map<String, SlotMigrator> migrators = new HashMap<>();
    private boolean closing;

    private SlotMigrations(ServerState server, ClusterState cluster) {
        this.server = server;
        this.cluster = cluster;
        cleaner = new SlotCleaner(server, cluster);
        copier = new KeyCopier(server, cluster);
        thread = Thread.ofPlatform().daemon().name("varve-migrations").unstarted(this::run);
    }

    /** @return null if this server is no member of a cluster with controllers */
    public static @Nullable SlotMigrations start(ServerState server) {
        ClusterState cluster = server.cluster();
        if (cluster == null || !cluster.isControlled()) {
            return null;
        }
        SlotMigrations migrations = new SlotMigrations(server, cluster);
        cluster.listener(migrations);
        migrations.cleaner.start();
        migrations.copier.start();
        migrations.thread.start();
        return migrations;
    }

    @Override
    public void changed(ClusterView before, ClusterView now) {
        cleaner.changed(now);
        copier.wake();
        // Without a lease, commands are refused that wait for a hold.
        cluster.holds().wakeAll();
        synchronized (migrators) {
            migrators.values().forEach(SlotMigrator::wake);
            migrators.notifyAll();
        }
    }

    private void run() {
        try {
            synchronized (migrators) {
                while (!closing) {
                    startMigrators();
                    migrators.values().forEach(SlotMigrator::tick);
                    if (migrators.isEmpty()) {
                        migrators.wait();
                    } else {
                        migrators.wait(TICK_MILLIS);
                    }
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    /** The caller holds the monitor of the migrators. */
    private void startMigrators() {
        migrators.values().removeIf(SlotMigrator::hasEnded);
        ClusterView view = cluster.view();
        Set<String> targets = new HashSet<>();
        view.migrating().values().forEach(target -> targets.add(target.id()));
        for (String target : targets) {
            if (!migrators.containsKey(target) && !SlotMigrator.slotsFor(view, target).isEmpty()) {
                SlotMigrator migrator = new SlotMigrator(server, cluster, target);
                migrators.put(target, migrator);
                migrator.start();
            }
        }
    }

    @Override
    public void close() {
        Set<SlotMigrator> running;
        synchronized (migrators) {
            closing = true;
            running = new HashSet<>(migrators.values());
            migrators.notifyAll();
        }
        running.forEach(SlotMigrator::close);
        copier.close();
        cleaner.close();
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
