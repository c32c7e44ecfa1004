package io.varve.proxy.map;

import java.io.IOException;
import java.util.List;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.ControllerAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the controllers of a Varve cluster for the slot map: periodically, and after redirections and failures.
 * Thread-safe: the thread of a {@link MapPoller} asks; any thread may request it.
 *
 * <p>While no controller leads, the last map stays in use. Only this class loads Ratis.
 */
public final class ControllersMapSource implements MapSource {
    private static final Logger LOG = LoggerFactory.getLogger(ControllersMapSource.class);
    private static final long DEADLINE_MILLIS = 2_000;

    private final ControllerClient client;
    private final MapPoller poller;
    private volatile Listener listener = _ -> {};

    // Confined to the thread of the poller.
    private SlotMap map = SlotMap.EMPTY;
    private boolean isReachable = true;

    /**
     * @param controllers at least one of them
     * @param periodMillis time after which it asks without a request
     */
    public ControllersMapSource(List<ControllerAddress> controllers, int periodMillis) {
        client = new ControllerClient(controllers, DEADLINE_MILLIS);
        poller = new MapPoller(periodMillis, this::ask);
    }

    @Override
    public void start(Listener receiver) {
        listener = receiver;
        poller.start();
    }

    @Override
    public void refresh(@Nullable Endpoint from) {
        poller.request();
    }

    /** @return true: the map may change again */
    private boolean ask() {
        try {
            accept(client.view().map());
            isReachable = true;
        } catch (ControllersUnavailableException unavailable) {
            if (isReachable && !Thread.currentThread().isInterrupted()) {
                LOG.warn("The slot map is not updated: {}", unavailable.getMessage());
            }
            isReachable = false;
        }
        if (map.members().isEmpty()) {
            // Nothing can be served before the first map, so it asks again at once.
            poller.request();
        }
        return true;
    }

    private void accept(SlotMap newest) {
        if (newest.epoch() > map.epoch()) {
            map = newest;
            LOG.info("Slot map {} of the controllers: {} members, {} slots", map.epoch(), map.members().size(),
                    map.assignedSlots());
            listener.changed(new SlotTable(map, SlotTable.Kind.CLUSTER));
        }
    }

    @Override
    public void close() {
        poller.close();
        try {
            client.close();
        } catch (IOException failed) {
            LOG.warn("The connections to the controllers did not close: {}", failed.toString());
        }
    }
}
