"""How runs are judged: the settings of the visitor for this session."""

import streamlit as st

from passnet_core.records import BASELINE_NAMES, Baseline, Capture, Device, EvalSpec, Profile, Stage

STAGE, CAPTURE, PROFILE, BASELINE, TRIALS, DEADLINE, CAP = (
    f"option-{name}" for name in ("stage", "capture", "profile", "baseline", "trials", "deadline", "cap")
)
STAGES = {"values": Stage.VERIFY, "values and time": Stage.MEASURE}
PROFILES = {
    "strict: this judge's own rules": Profile.STRICT,
    "PassNet's rules: recorded inputs, its static rule and protocol": Profile.PASSNET,
}
CAPTURES = {
    "direct: call the rewritten graph as it is": Capture.DIRECT,
    "compiled: call it through torch.compile, as PassNet does": Capture.COMPILED,
}
BASELINES = {name: baseline for baseline, name in BASELINE_NAMES.items()}


LONGEST_S, USUAL_S = 1800, 120


def options_menu(device: Device, most_s: float) -> None:
    """Draw the settings of a run. They apply to every page of this session. most_s: how many seconds a pass of this
    person may take at most."""
    if device is Device.CUDA:
        st.radio("What to judge", list(STAGES), index=1, key=STAGE, persist_state="session")
    st.radio("Capture", list(CAPTURES), key=CAPTURE, persist_state="session")
    profile = st.radio("Judged by", list(PROFILES), key=PROFILE, persist_state="session")
    if device is Device.CUDA:
        st.radio(
            "Baseline",
            list(BASELINES),
            key=BASELINE,
            persist_state="session",
            help="By default TorchInductor keeps half-precision intermediates inside a kernel in float32. With eager's "
            "rounding it rounds each of them, as eager does.",
        )
        st.number_input("Timed blocks", 1, 50, 5, key=TRIALS, persist_state="session")
    longest_s = int(min(most_s, LONGEST_S))
    usual_s = min(USUAL_S, longest_s)
    st.number_input("Deadline per subgraph, seconds", 5, longest_s, usual_s, key=DEADLINE, persist_state="session")
    cap = "At most one replacement function, as in PassNet"
    if PROFILES.get(profile or "") is Profile.PASSNET:
        st.checkbox(cap, value=True, disabled=True, key=f"{CAP}-given")
    else:
        st.checkbox(cap, key=CAP, persist_state="session")


def spec_of(device: Device, stage: Stage | None) -> EvalSpec:
    """Return the specification of a run by these settings. stage: None for the one set, or the device's last stage."""
    state = st.session_state
    profile = PROFILES.get(state.get(PROFILE, ""), Profile.STRICT)
    most = Stage.MEASURE if device is Device.CUDA else Stage.VERIFY
    return EvalSpec(
        stage=stage or (STAGES.get(state.get(STAGE, ""), most) if device is Device.CUDA else most),
        device=device,
        capture=CAPTURES.get(state.get(CAPTURE, ""), Capture.DIRECT),
        profile=profile,
        baseline=BASELINES.get(state.get(BASELINE, ""), Baseline.INDUCTOR),
        trials=int(state.get(TRIALS) or 5),
        deadline_s=float(state.get(DEADLINE) or USUAL_S),
        replacement_cap=1 if state.get(CAP) or profile is Profile.PASSNET else None,
    )
