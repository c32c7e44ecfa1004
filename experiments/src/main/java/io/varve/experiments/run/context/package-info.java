/** The context of every run: its cancellation, its monitor, its progress line, and paced processes. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.context;
