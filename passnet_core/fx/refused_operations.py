"""The operations that torch offers and a subgraph may not use, by the reason: a subgraph computes, and reaches nothing
else. New names of torch that compute on tensors need no entry here."""

from collections.abc import Mapping
from enum import StrEnum


class Reason(StrEnum):
    """Why a subgraph may not use an operation, as the end of a sentence that begins with the operation."""

    FILES = "reads or writes files"
    CODE = "runs other code"
    STATE = "reads or sets global state"
    MEMORY = "reaches raw memory"
    PROCESSES = "shares memory with other processes"
    GRADIENTS = "computes gradients"
    NO_TENSORS = "does not compute on tensors"
    REMOVED = "was removed from torch"
    PRIVATE = "is private to torch"
    UNKNOWN = "is not known"


_NAMES: Mapping[Reason, str] = {
    Reason.FILES: "load save from_file get_file_path import_ir_module import_ir_module_from_buffer",
    Reason.CODE: """
        compile torch.cond vmap while_loop fork wait parse_ir parse_schema parse_type_comment
        merge_type_from_type_comment apply_ map_ map2_ register_hook register_post_accumulate_grad_hook module_load
        handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic boolean_dispatch
        _overload _jit_unused _add_docstr
    """,
    Reason.STATE: """
        are_deterministic_algorithms_enabled autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
        get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype
        get_default_device get_default_dtype get_deterministic_debug_mode get_float32_matmul_precision
        get_num_interop_threads get_num_threads get_rng_state init_num_threads initial_seed
        is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled
        is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
        is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_warn_always_enabled
        manual_seed prepare_multiprocessing_environment profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 seed
        set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
        set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
        set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type
        set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_grad_enabled
        set_num_interop_threads set_num_threads set_printoptions set_rng_state set_warn_always thread_safe_generator
        use_deterministic_algorithms
    """,
    Reason.MEMORY: """
        from_numpy frombuffer from_dlpack to_dlpack numpy storage untyped_storage storage_type data_ptr const_data_ptr
        set_ torch.ops.aten.set set_data record_stream as_subclass
        fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix
        quantized_gru quantized_lstm quantized_gru_cell quantized_lstm_cell quantized_rnn_relu_cell
        quantized_rnn_tanh_cell
    """,
    Reason.PROCESSES: "share_memory_",
    Reason.GRADIENTS: "backward grad_fn retain_grad reinforce torch.ops.aten.grad",
    Reason.NO_TENSORS: """
        classproperty compiled_with_cxx11_abi get_device_module is_storage sym_fresh_size typename unify_type_list
    """,
    Reason.REMOVED: """
        torch.eig torch.lstsq torch.matrix_rank torch.solve torch.symeig Tensor.eig Tensor.lstsq Tensor.solve
        Tensor.symeig
    """,
}
"""Names, each wherever it occurs; and dotted paths, where the same name elsewhere computes, as in torch.linalg.cond."""

_REASON: Mapping[str, Reason] = {name: reason for reason, names in _NAMES.items() for name in names.split()}


def refused_for(operation: str) -> Reason | None:
    """The stated reason against an operation such as "torch.load" or "Tensor.numpy"; None if none is stated."""
    return _REASON.get(operation) or _REASON.get(operation.rpartition(".")[2])
