package io.varve.server.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Spikes of latency by event, as LATENCY shows them. Guarded by itself: spikes are rare. */
public final class LatencyMonitor {
    private static final int HISTORY = 160;

    /** The worst latency of one second. */
    public record Sample(long unixSeconds, long millis) {}

    /** One event's spikes: the latest, the worst of all time, and the history, oldest first. */
    public record Event(String name, Sample latest, long maxMillis, List<Sample> history) {}

    private static final class Series {
        private final List<Sample> samples = new ArrayList<>();
        private long maxMillis;
    }

    private final Map<String, Series> events = new TreeMap<>();

    /** Notes a spike; of several within a second the worst is kept. */
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

    /** Forgets one event. @return whether it was there */
    public synchronized boolean reset(String event) {
        return events.remove(event) != null;
    }

    /** Forgets all. @return how many there were */
    public synchronized int resetAll() {
        int count = events.size();
        events.clear();
        return count;
    }
}
