package io.varve.server.admin.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Latency spikes by event, as LATENCY shows them. Guarded by {@code this}: spikes are rare. */
public final class LatencyMonitor {
    private static final int HISTORY = 160;

    /** The worst latency of one second. */
    public record Sample(long unixSeconds, long millis) {}

    /** The spikes of one event: the latest, the worst since the start, and the history, oldest first. */
    public record Event(String name, Sample latest, long maxMillis, List<Sample> history) {}

    private static final class Series {
        private final List<Sample> samples = new ArrayList<>();
        private long maxMillis;
    }

    private final Map<String, Series> events = new TreeMap<>();

    /** Records a spike; within one second only the worst is kept. */
    public synchronized void add(String event, long unixSeconds, long millis) {
        Series series = events.computeIfAbsent(event, _ -> new Series());
        series.maxMillis = Math.max(series.maxMillis, millis);
        if (!series.samples.isEmpty() && series.samples.getLast().unixSeconds() == unixSeconds) {
            if (series.samples.getLast().millis() < millis) {
                series.samples.set(series.samples.size() - 1, new Sample(unixSeconds, millis));
            }
            return;
        }
        if (series.samples.size() == HISTORY) {
            series.samples.removeFirst();
        }
        series.samples.add(new Sample(unixSeconds, millis));
    }

    public synchronized List<Event> events() {
        List<Event> result = new ArrayList<>();
        events.forEach((name, series) -> result
                .add(new Event(name, series.samples.getLast(), series.maxMillis, List.copyOf(series.samples))));
        return result;
    }

    /** Removes one event. @return whether it existed */
    public synchronized boolean reset(String event) {
        return events.remove(event) != null;
    }

    /** Removes all events. @return their number */
    public synchronized int resetAll() {
        int count = events.size();
        events.clear();
        return count;
    }
}
